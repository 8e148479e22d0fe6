import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, type HostileRequest } from './attack';
import { BOMBS, UNFINISHED, binaryOf, dearTopic, patientOf, searchesOf } from './bodies';
import { LONG_PATIENT, RECORD } from './fairness-data';
import { type Scene } from './scene';

/** The duration of most scenes, long enough for a p99 of other callers. */
const SECONDS = 10;
/** The duration of scenes with unread responses, longer than such a response may stall. */
const STALL_SECONDS = 15;
/** The number of waves of simultaneous requests. */
const WAVES = 5;
const WAVE_PAUSE_MILLISECONDS = 1_000;
/** The duration of uploads: time for several large bodies of each caller. */
const UPLOAD_SECONDS = 60;

const REFUSED = [401, 404, 405, 413, 415];
const PAGE = '/fhir/Binary?_count=1000';

const SEARCH = { readsP99Milliseconds: 100, quietSeconds: 1 };
const STRANGERS = { memoryMegabytes: 500, readsP99Milliseconds: 100, statuses: REFUSED };
const ANSWERS = { memoryMegabytes: 800, readsP99Milliseconds: 100 };
const UPLOADS = { memoryMegabytes: 800, readsP99Milliseconds: 300, spread: 2 };

/** One caller repeats a request in several loops, then disconnects. */
const repeated =
  (loops: number, requestOf: (loop: number) => Omit<HostileRequest, 'caller'>) =>
  (attack: Attack): Promise<void> =>
    attack.repeat(SECONDS, loops, (loop) => attack.send({ caller: 0, ...requestOf(loop) }));

/** Several callers send 200 large bodies at a time. After a 503 the same body is sent again. */
const uploads = (body: () => Buffer, path: string) => (attack: Attack) => {
  const sent = { path, body: body() };
  return attack.repeat(UPLOAD_SECONDS, 200, async (loop) =>
    attack.sendPatiently({ ...sent, caller: loop % attack.callers }),
  );
};

/** Sends bombs simultaneously, to paths that require credentials and to paths that do not. */
async function bombs(attack: Attack): Promise<void> {
  const paths = ['/fhir/Patient', '/health', '/nowhere', '/auth/token', '/fhir/Patient/x/$everything'];
  for (let wave = 0; wave < WAVES; wave++) {
    const answers = Array.from({ length: 1_000 }, (_, n) => {
      const [encoding, body] = BOMBS[n % BOMBS.length] ?? ['br', ''];
      return attack.send({ path: paths[n % paths.length] ?? '/', body, headers: { 'Content-Encoding': encoding } });
    });
    await Promise.all(answers);
    await delay(WAVE_PAUSE_MILLISECONDS);
  }
}

function unfinishedUploads(attack: Attack): Promise<void> {
  const { body, declaredBytes } = UNFINISHED;
  const sent = { path: '/fhir/Patient', body, headers: { 'Content-Length': declaredBytes } };
  return attack.repeat(STALL_SECONDS, 1_000, async () => {
    await attack.sendUnfinished(sent);
    await delay(STALL_SECONDS * 1_000);
  });
}

const unreadPages = (attack: Attack): Promise<void> =>
  attack.repeat(STALL_SECONDS, 200, async (loop) => {
    await attack.sendUnread({ path: PAGE, caller: loop % attack.callers });
    await delay(STALL_SECONDS * 1_000);
  });

function listsOfAddenda(attack: Attack): Promise<void> {
  const call = { method: 'svc.sdc.addendum/get-addendums', params: { target: RECORD } };
  const body = JSON.stringify(Array.from({ length: 30 }, () => call));
  return attack.repeat(SECONDS, 30, (loop) => attack.send({ path: '/rpc', body, caller: loop % attack.callers }));
}

const chain = 'has-member:Observation.'.repeat(4);
const codes = Array.from({ length: 1_000 }, (_, n) => `c${n}`).join(',');
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

export const SCENES: readonly Scene[] = [
  {
    name: '1,000 bombs of strangers',
    promises: STRANGERS,
    attack: bombs,
  },
  {
    name: '1,000 unfinished uploads of strangers',
    promises: STRANGERS,
    attack: unfinishedUploads,
  },
  {
    name: '100 pages of 10 MB',
    promises: ANSWERS,
    attack: (attack) =>
      attack.repeat(SECONDS, 100, (loop) => attack.send({ path: PAGE, caller: loop % attack.callers })),
  },
  {
    name: '200 unread pages of 10 MB',
    promises: { ...ANSWERS, quietSeconds: 1 },
    attack: unreadPages,
  },
  {
    name: '200 Binaries of 18 MB', // after the pages, which would return these Binaries too
    promises: { ...UPLOADS, successesPerSecond: 1 },
    attack: uploads(() => binaryOf(18e6), '/fhir/Binary'),
  },
  {
    name: '200 Patients of 17.5 MB',
    promises: { ...UPLOADS, successesPerSecond: 1 / 15 },
    attack: uploads(() => patientOf(17.5e6), '/fhir/Patient'),
  },
  {
    name: '30 batches of 30 addenda lists of 50 MB',
    promises: { ...ANSWERS, quietSeconds: 1 },
    attack: listsOfAddenda,
  },
  {
    name: '$everything?_pretty=true of 30 callers',
    promises: { ...ANSWERS, quietSeconds: 1 },
    attack: (attack) =>
      attack.repeat(SECONDS, attack.callers, (caller) =>
        attack.send({ path: `/fhir/Patient/${LONG_PATIENT}/$everything?_pretty=true`, caller }),
      ),
  },
  {
    name: 'chains over linked rows',
    promises: SEARCH,
    attack: repeated(20, (loop) => ({ path: `/fhir/Observation?${chain}code=c${loop}` })),
  },
  {
    name: '30 searches with several sort keys',
    promises: SEARCH,
    attack: repeated(30, () => ({ path: '/fhir/Observation?_sort=code,-value-quantity,date,subject' })),
  },
  {
    name: 'code:not= with 1,000 codes',
    promises: SEARCH,
    attack: repeated(10, () => ({ path: '/fhir/Observation/_search', body: `code:not=${codes}`, headers: form })),
  },
  {
    name: '10 dry runs of a topic',
    promises: SEARCH,
    attack: repeated(10, () => ({ path: '/fhir/SvcSubscriptionTopic/$dry-run?_count=0', body: dearTopic() })),
  },
  {
    name: '30 batches of 200 searches',
    promises: SEARCH,
    attack: repeated(30, () => ({ path: '/fhir', body: searchesOf(200) })),
  },
  {
    name: 'logins with 20 wrong names',
    // Names that were tried too often get 429; a right login that got it would count as slower than any limit.
    promises: { loginSeconds: 5, statuses: [200, 400, 429] },
    attack: (attack) => attack.repeat(SECONDS, 21, (loop) => attack.logIn(loop === 20 ? undefined : `nobody-${loop}`)),
  },
];
