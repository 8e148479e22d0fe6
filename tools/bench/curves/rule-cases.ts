import { list, post, put } from './calls';
import { type CurveCall, type CurveCase, type Sender } from './curve-case';

const ITEMS = [1_000, 4_000, 16_000];
const ENTRIES = [62, 250, 1_000];
const RULES = [25, 100, 400];

const USER = { id: 'admin', resourceType: 'User' };

let changes = 0;

const snapshotOf = (id: string, items: number): object => ({
  ...{ id, resourceType: 'SDCDocument', status: 'completed' },
  answers: list(items, (n) => ({ linkId: `q${n}`, value: `a${++changes}` })),
});
const call = (method: string, params: object) => post('/rpc', { method: `svc.sdc.addendum/${method}`, params });
const addToHistory = (id: string, items: number) =>
  call('add-to-history', { resource: snapshotOf(id, items), user: USER });
const targetOf = (id: string): object => ({ target: { id, resourceType: 'SDCDocument' } });

const stored = new Set<number>();

/** Stores a document with `size` comments. */
async function storeAddenda(size: number, send: Sender): Promise<void> {
  if (stored.has(size)) return;
  stored.add(size);
  const target = targetOf(`list-${size}`);
  await send(put(`/fhir/SDCDocument/list-${size}`, { resourceType: 'SDCDocument', status: 'in-progress' }));
  for (let n = 0; n < size; n++) await send(call('add-comment', { ...target, user: USER, text: `comment ${n}` }));
}

/** Stores a Client linked to `size` policies, of which only the last grants. */
async function storePolicies(size: number, send: Sender, policyOf: (n: number) => object): Promise<void> {
  const id = `policies-${size}`;
  await send(put(`/Client/${id}`, { secret: SECRET, grant_types: ['basic'] }));
  const link = [{ resourceType: 'Client', id }];
  for (let n = 0; n < size - 1; n++) await send(put(`/AccessPolicy/${id}-${n}`, { ...policyOf(n), link }));
  await send(put(`/AccessPolicy/${id}-z`, { engine: 'allow', link }));
}

const SECRET = 'secret of the bench';

/** The resource type that the topics of a case watch, by the number of these topics. Each case has its own type. */
const WATCHED: Readonly<Record<number, string>> = { 25: 'Practitioner', 100: 'PractitionerRole', 400: 'Location' };

async function storeTopics(size: number, send: Sender): Promise<void> {
  for (let n = 0; n < size; n++) {
    const fhirPathCriteria = `identifier.where(value = 'none-${n}').exists()`;
    await send(putTopic(`curve-${size}-${n}`, { resource: WATCHED[size], fhirPathCriteria }));
  }
}

function createWatched(size: number): CurveCall {
  const resourceType = WATCHED[size] ?? '';
  return post(`/fhir/${resourceType}`, { resourceType, identifier: [{ value: 'v' }] });
}

const storeLookingTopic: CurveCase['setUp'] = (_, send) =>
  send(putTopic('curve-items', { resource: 'Person', fhirPathCriteria: `name.where(family = 'none').exists()` }));

const putTopic = (id: string, trigger: object): CurveCall =>
  put(`/fhir/SvcSubscriptionTopic/${id}`, {
    url: `http://bench.example/topics/${id}`,
    status: 'active',
    trigger: [trigger],
  });

/** Addenda, policies and topics: rules and records that the server evaluates in addition to the resource itself. */
export const RULE_CASES: readonly CurveCase[] = [
  { name: 'add-to-history, answers', sizes: ITEMS, request: (size) => addToHistory(`history-${size}`, size) },
  {
    name: 'create-amendment, answers that differ',
    sizes: [250, 1_000, 4_000],
    setUp: (size, send) => send(addToHistory(`diff-${size}`, size)),
    before: (size) => addToHistory(`diff-${size}`, size),
    request: (size) => call('create-amendment', { ...targetOf(`diff-${size}`), user: USER }),
  },
  {
    name: 'get-addendums',
    sizes: ENTRIES,
    setUp: storeAddenda,
    request: (size) => call('get-addendums', targetOf(`list-${size}`)),
  },
  { name: 'verify', sizes: ENTRIES, setUp: storeAddenda, request: (size) => call('verify', targetOf(`list-${size}`)) },
  {
    name: 'update, matcho policies',
    sizes: RULES,
    setUp: (size, send) =>
      storePolicies(size, send, (n) => ({ engine: 'matcho', matcho: { resource: { language: `none-${n}` } } })),
    request: (size) => ({
      ...put('/fhir/Basic/by-policies', { resourceType: 'Basic', code: { text: `change ${++changes}` } }),
      user: { user: `policies-${size}`, password: SECRET },
    }),
  },
  {
    name: 'create, criteria of topics',
    sizes: RULES,
    setUp: storeTopics,
    request: createWatched,
  },
  {
    name: 'create, items that a criterion looks at',
    sizes: ITEMS,
    setUp: storeLookingTopic,
    request: (size) => post('/fhir/Person', { resourceType: 'Person', name: list(size, (n) => ({ family: `f${n}` })) }),
  },
];
