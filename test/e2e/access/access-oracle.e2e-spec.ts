import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../../../tools/chart/random';
import {
  AccessOracle,
  type Fact,
  LINKS,
  reachedBy,
  type Rights,
  sortsOf,
  textOf,
  TYPE_NAMES,
  type TypeName,
  typeIn,
} from '../../support/access-oracle';
import { type Bundle, nextOf } from '../../support/bundle';
import { countsOf, destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { login, type Person } from '../../../testing/world';

/**
 * Seeds of the random data, policies and requests. Each run uses another seed. `ACCESS_SEEDS=1,2,3` uses these seeds,
 * and sends more requests.
 */
const { ACCESS_SEEDS: given } = process.env;
const SEEDS = (given ?? String(Date.now() % 1_000_000)).split(',').map(Number);
const [QUERIES, WRITES] = given === undefined ? [40, 60] : [200, 300];

/** A caller, whose policies are one for all types, or one for each type. */
interface Caller {
  readonly id: string;
  readonly hasPolicyPerType: boolean;
  rights: Rights;
  readonly person: Person;
  readonly receiver: WebhookReceiver;
  readonly destinationId: string;
  /** References to the versions that the webhook of the caller has to receive. */
  readonly events: string[];
}

interface Write {
  readonly method: 'PUT' | 'DELETE';
  readonly name: string;
  readonly fact?: Fact;
}

interface Entry {
  readonly resource?: { readonly resourceType: string; readonly id: string };
  readonly search?: { readonly mode: string };
  readonly response?: { readonly status: string };
}

describe.each(SEEDS)('callers get the same results as a brute-force filter, drawn with ACCESS_SEEDS=%i', (seed) => {
  const random = new Random(seed);
  const oracle = new AccessOracle(random);
  const callers: Caller[] = [];
  const versions = new Map<string, number>();
  const deleted = new Set<string>();
  let app: TestApp;
  let marks = 0;

  beforeAll(async () => {
    app = await startTestApp();
    oracle.populate(8);
    for (const [name, fact] of oracle.facts) {
      expect((await app.put(`/${name}`, oracle.bodyOf(fact, ++marks))).status).toBe(201);
      versions.set(name, 1);
    }
    const topic = await newTopic(app, undefined, { trigger: TYPE_NAMES.map((resource) => ({ resource })) });
    for (let number = 0; number < 4; number++) {
      const [id, hasPolicyPerType] = [`caller-${number}`, number % 2 === 1];
      const person = await login(app, id, { policies: [] });
      const receiver = await WebhookReceiver.start();
      const more = { principal: { resourceType: 'User', id }, includeVersionIdInFocusReference: true };
      const destinationId = await newDestination(app, destination(topic, more, receiver.url));
      const rights = oracle.drawRights(hasPolicyPerType);
      const caller = { id, hasPolicyPerType, rights, person, receiver, destinationId, events: [] };
      callers.push(caller);
      await storePolicies(caller);
    }
  });
  afterAll(async () => {
    await app.close();
    for (const { receiver } of callers) await receiver.stop();
  });

  async function storePolicies({ id, hasPolicyPerType, rights }: Caller): Promise<void> {
    const link = [{ resourceType: 'User', id }];
    const store = async (name: string, policy: object): Promise<void> => {
      const { status, text } = await app.put(`/AccessPolicy/${id}-${name}`, { ...policy, link });
      expect([[200, 201].includes(status), text]).toEqual([true, expect.any(String)]);
    };
    const criteriaOf = (type: TypeName): string[] => {
      const right = rights[type];
      return typeof right === 'string' ? [] : right.map((search) => `${type}?${textOf(search)}`);
    };
    await store('bundles', { engine: 'matcho', matcho: { operation: { id: 'FhirBundle' } } });
    if (!hasPolicyPerType) {
      // The last criterion grants nothing here: it keeps the list from being empty.
      await store('all', { engine: 'allow', criteria: [...TYPE_NAMES.flatMap(criteriaOf), 'Basic'] });
      return;
    }
    for (const type of TYPE_NAMES) {
      const matcho = { params: { 'resource/type': type } };
      if (rights[type] === 'none') await app.delete(`/AccessPolicy/${id}-${type.toLowerCase()}`);
      else if (rights[type] === 'all') await store(type.toLowerCase(), { engine: 'matcho', matcho });
      else await store(type.toLowerCase(), { engine: 'matcho', matcho, criteria: criteriaOf(type) });
    }
  }

  const send = ({ person }: Caller, method: string, path: string, body?: object): Promise<Received> =>
    app.send(method, path, { authorization: person.bearer, ...(body && { body }) });

  /** Sends reads in one batch, and returns the status and the Bundle or resource of each. */
  async function askAll(caller: Caller, paths: readonly string[]): Promise<[string, Partial<Bundle<Entry>>][]> {
    const entry = paths.map((url) => ({ request: { method: 'GET', url } }));
    const answer = await send(caller, 'POST', '/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    return answer
      .json<Bundle<Entry & { readonly resource: Partial<Bundle<Entry>> }>>()
      .entry.map(({ response, resource }) => [response?.status.slice(0, 3) ?? '', resource]);
  }

  const found = ({ entry = [] }: Partial<Bundle<Entry>>, mode: string): string[] =>
    entry.flatMap(({ resource, search }) =>
      search?.mode === mode && resource !== undefined ? [`${resource.resourceType}/${resource.id}`] : [],
    );

  const mayUse = ({ rights }: Caller, types: readonly TypeName[]): boolean =>
    types.every((type) => rights[type] !== 'none');

  it('from reads, versions and histories', async () => {
    for (const caller of callers) {
      const names = [...oracle.facts.keys()];
      const paths = names.flatMap((name) => [name, `${name}/_history/1`, `${name}/_history`]);
      const expected = paths.map((path) => {
        const name = path.split('/').slice(0, 2).join('/');
        if (!mayUse(caller, [typeIn(name)])) return [path, '403'];
        return [path, oracle.isGranted(caller.rights, name) ? '200' : '404'];
      });
      const answers = await askAll(caller, paths);
      expect([caller.id, paths.map((path, at) => [path, answers[at]?.[0]])]).toEqual([caller.id, expected]);
    }
  });

  it('from searches, their totals and their pages', async () => {
    for (const caller of callers) {
      const asked = Array.from({ length: QUERIES }, () => {
        const type = random.pick(TYPE_NAMES);
        const search = oracle.drawSearch(type);
        return { type, search, path: `${type}?${textOf(search)}` };
      });
      const answers = await askAll(
        caller,
        asked.map(({ path }) => path),
      );
      for (const [at, { type, search, path }] of asked.entries()) {
        const [status = '', bundle = {}] = answers[at] ?? [];
        const isAllowed = mayUse(caller, [type, ...reachedBy(search)]);
        const names = isAllowed ? oracle.find(type, search, caller.rights).sort() : [];
        expect([caller.id, path, status]).toEqual([caller.id, path, isAllowed ? '200' : '403']);
        expect([caller.id, path, found(bundle, 'match').sort()]).toEqual([caller.id, path, names]);
        if (isAllowed) expect([caller.id, path, bundle.total]).toEqual([caller.id, path, names.length]);
        if (isAllowed && at % 10 === 0)
          await expectPages(
            caller,
            `/${path}&_count=2&_sort=${random.pick(['', '-'])}${random.pick(sortsOf(type))}`,
            names,
          );
        if (isAllowed && at % 10 === 5)
          expect([caller.id, path, await totalOf(caller, `/${path}&_summary=count`)]).toEqual([
            caller.id,
            path,
            names.length,
          ]);
      }
    }
  });

  it('from $everything, its pages, totals and manifests', async () => {
    for (const caller of callers) {
      for (const patient of oracle.namesOf('Patient')) {
        const path = `/${patient}/$everything`;
        const names = oracle.compartmentOf(patient, caller.rights).sort();
        const { status } = await send(caller, 'GET', path);
        const isSeen = oracle.isGranted(caller.rights, patient);
        const expected = !mayUse(caller, ['Patient']) ? 403 : isSeen ? 200 : 404;
        expect([caller.id, path, status]).toEqual([caller.id, path, expected]);
        if (status !== 200) continue;
        await expectPages(caller, path, names);
        await expectPages(caller, `${path}?_count=2`, names);
        const type = random.pick(TYPE_NAMES.filter((one) => one !== 'Organization' && mayUse(caller, [one])));
        const ofType = names.filter((name) => typeIn(name) === type);
        await expectPages(caller, `${path}?_type=${type}`, ofType);
        const totals = [await totalOf(caller, `${path}?_summary=count`), await countOfManifest(caller, path)];
        expect([caller.id, path, totals]).toEqual([caller.id, path, [names.length, names.length]]);
      }
    }
  });

  const totalOf = async (caller: Caller, path: string): Promise<number | undefined> =>
    (await send(caller, 'GET', path)).json<Bundle>().total;

  async function countOfManifest(caller: Caller, path: string): Promise<number | undefined> {
    interface Part {
      readonly name: string;
      readonly valueInteger?: number;
    }
    const { parameter } = (await send(caller, 'GET', `${path}?_manifest=1`)).json<{ parameter: Part[] }>();
    return parameter.find(({ name }) => name === 'count')?.valueInteger;
  }

  async function expectPages(caller: Caller, path: string, names: readonly string[]): Promise<void> {
    expect([caller.id, path, (await pagesOf(caller, path)).sort()]).toEqual([caller.id, path, names]);
  }

  async function pagesOf(caller: Caller, path: string): Promise<string[]> {
    const names: string[] = [];
    let next: string | undefined = path;
    while (next !== undefined) {
      const page: Bundle<Entry> = (await send(caller, 'GET', next)).json();
      names.push(...found(page, 'match'));
      next = nextOf(page);
    }
    return names;
  }

  it('from _include and _revinclude', async () => {
    for (const caller of callers) {
      for (const type of TYPE_NAMES.filter((one) => mayUse(caller, [one]))) {
        const search = oracle.drawSearch(type).filter(({ kind }) => kind !== 'chain' && kind !== 'has');
        const includes = [
          ...LINKS.filter(({ source }) => source === type).map(({ code }) => `_include=${type}:${code}`),
          ...LINKS.filter(({ target }) => target === type).map(({ source, code }) => `_revinclude=${source}:${code}`),
        ];
        const path = `/${type}?${[textOf(search), ...includes].filter((text) => text !== '').join('&')}`;
        const answer = (await send(caller, 'GET', path)).json<Bundle<Entry>>();
        const names = oracle.find(type, search, caller.rights);
        const included = oracle.neighborsOf(names, caller.rights);
        expect([caller.id, path, found(answer, 'match').sort(), found(answer, 'include').sort()]).toEqual([
          caller.id,
          path,
          names.sort(),
          included.sort(),
        ]);
      }
    }
  });

  it('from writes, transactions and webhooks, while rights change', async () => {
    for (let step = 0; step < WRITES; step++) {
      const caller = random.pick(callers);
      if (random.chance(0.05)) {
        caller.rights = oracle.drawRights(caller.hasPolicyPerType);
        await storePolicies(caller);
      }
      const isTransaction = random.chance(0.4);
      const writes = drawWrites(isTransaction ? random.integer(1, 4) : 1);
      const bodies = writes.map(({ fact }) => fact && oracle.bodyOf(fact, ++marks));
      const answer = isTransaction ? await together(caller, writes, bodies) : await alone(caller, writes, bodies);
      const expected = apply(caller, writes);
      const described = [seed, step, caller.id, writes.map(({ method, name }) => `${method} ${name}`), answer.text];
      if (answer.statuses === undefined)
        expect([...described, expected]).toEqual([...described, expect.arrayContaining([answer.status])]);
      else expect([...described, answer.statuses]).toEqual([...described, expected]);
    }
    for (const { id, events, receiver, destinationId } of callers) {
      const isEmpty = async (): Promise<boolean> => {
        const { messagesQueued, messagesInProcess } = await countsOf(app, destinationId);
        return messagesQueued === 0 && messagesInProcess === 0;
      };
      await eventually(`the queue of ${id} is empty`, isEmpty, 60_000);
      expect([id, receiver.references.sort()]).toEqual([id, events.sort()]);
    }
  }, 240_000);

  /** Draws writes of different resources, some of which are new or were deleted. */
  function drawWrites(count: number): Write[] {
    const writes = new Map<string, Write>();
    while (writes.size < count) {
      const type = random.pick(TYPE_NAMES);
      const known = oracle.namesOf(type);
      const gone = [...deleted].filter((name) => typeIn(name) === type);
      const isNew = random.chance(0.15);
      const name = isNew
        ? `${type}/new-${random.integer(1, 999)}`
        : random.pick(random.chance(0.1) && gone.length > 0 ? gone : known);
      const isDeletion = known.length > 4 && random.chance(0.15);
      const fact = oracle.drawFact(type, name.slice(name.indexOf('/') + 1));
      writes.set(name, isDeletion ? { method: 'DELETE', name } : { method: 'PUT', name, fact });
    }
    return [...writes.values()];
  }

  interface WriteAnswer {
    readonly status: string;
    readonly text: string;
    /** The status of each write; undefined if a transaction was refused as a whole. */
    readonly statuses?: readonly string[];
  }

  async function alone(caller: Caller, [write]: Write[], [body]: (object | undefined)[]): Promise<WriteAnswer> {
    const answer = await send(caller, write?.method ?? '', `/${write?.name}`, body);
    return { status: String(answer.status), statuses: [String(answer.status)], text: answer.text };
  }

  async function together(caller: Caller, writes: Write[], bodies: (object | undefined)[]): Promise<WriteAnswer> {
    const entry = writes.map(({ method, name }, at) => ({
      request: { method, url: name },
      ...(bodies[at] && { resource: bodies[at] }),
    }));
    const { status, text } = await send(caller, 'POST', '/fhir', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry,
    });
    if (status !== 200) return { status: String(status), text };
    const answered = (JSON.parse(text) as Bundle<Entry>).entry;
    return { status: '200', text, statuses: answered.map(({ response }) => response?.status.slice(0, 3) ?? '') };
  }

  /**
   * Applies writes to the oracle, and returns their statuses. If one is refused, none is applied: a resource must be
   * granted before and after its write, and a limited caller cannot use the id of a deleted one.
   */
  function apply({ rights }: Caller, writes: readonly Write[]): string[] {
    const before = new Map(oracle.facts);
    const wasSeen = new Set(writes.map(({ name }) => name).filter((name) => oracle.isGranted(rights, name)));
    const isDone = (name: string): boolean => before.has(name) && wasSeen.has(name);
    const isLimited = (name: string): boolean => rights[typeIn(name)] !== 'all';
    const statuses = writes.map(({ method, name, fact }) => {
      if (rights[typeIn(name)] === 'none') return '403';
      if (method === 'DELETE') {
        if (isDone(name)) oracle.facts.delete(name);
        return isDone(name) ? '200' : '204';
      }
      if (before.has(name) ? !wasSeen.has(name) : deleted.has(name) && isLimited(name)) return '403';
      if (fact !== undefined) oracle.store(fact);
      return before.has(name) ? '200' : '201';
    });
    for (const [at, { method, name }] of writes.entries())
      if (method === 'PUT' && !oracle.isGranted(rights, name)) statuses[at] = '403';
    if (statuses.includes('403')) {
      oracle.facts.clear();
      for (const [name, fact] of before) oracle.facts.set(name, fact);
      return statuses;
    }
    for (const { method, name } of writes) if (method === 'PUT' || isDone(name)) noteEvents(method, name);
    return statuses;
  }

  /** Records the expected event. Row criteria cannot apply to deletions, so limited callers receive none. */
  function noteEvents(method: Write['method'], name: string): void {
    const version = (versions.get(name) ?? 0) + 1;
    versions.set(name, version);
    if (method === 'DELETE') deleted.add(name);
    else deleted.delete(name);
    for (const { rights, events } of callers) {
      const isDelivered = method === 'DELETE' ? rights[typeIn(name)] === 'all' : oracle.isGranted(rights, name);
      if (isDelivered) events.push(`${name}/_history/${version}`);
    }
  }
});
