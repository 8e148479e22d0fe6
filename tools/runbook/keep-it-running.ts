import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { runQuery } from '../bench/own-database';
import { HttpClient } from '../http-client';
import { HowTo } from './how-to';
import { type Machine, type Variables } from './machine';
import { type Served } from './served';

type Start = (settings: Variables) => Promise<Served>;
type Tell = (line: string) => void;

const LOOKS = ['disk-full', 'clock-skew', 'webhooks-late', 'logins-slow'];

/** Runs the commands that an operator uses to inspect a server and its database. */
export async function lookAround(machine: Machine, start: Start, settings: Variables, tell: Tell): Promise<void> {
  const server = await start(settings);
  await server.keepWaiting();
  const { DATABASE_URL = '', SVC_METRICS_PORT = '' } = settings;
  const variables = {
    DATABASE_URL,
    DATA_DIR: machine.path('primary'),
    BASE_URL: server.url,
    METRICS: `localhost:${SVC_METRICS_PORT}`,
  };
  for (const name of LOOKS) {
    await (await HowTo.of('runbook.md', name, machine.asOperator(variables))).look();
    tell(`${name}: each command answers`);
  }
  await server.stop();
}

/** Restores a dump into a new database, which delivers nothing until it is released. */
export async function backUpAndRestore(machine: Machine, start: Start, settings: Variables, tell: Tell): Promise<void> {
  const { DATABASE_URL = '' } = settings;
  const restored = machine.primary('svc_restored');
  const run = machine.asOperator({ DATABASE_URL, RESTORED_URL: restored, BACKUP_FILE: machine.path('svc.dump') });
  let server = await start(settings);
  await server.expect('PUT', 'saved', 201);
  const restoring = await HowTo.of('back-up.md', 'restore', run);
  await (await HowTo.of('back-up.md', 'back-up', run)).step();
  await server.expect('DELETE', 'saved', 200);
  await server.stop();
  await restoring.step();
  await restoring.step();
  const isHeld = async (): Promise<boolean> =>
    (await runQuery(restored, 'select from delivery_generation where is_held')).length === 1;
  if (!(await isHeld())) throw new Error('Delivery is not held after a restore.');
  server = await start({ ...settings, DATABASE_URL: restored });
  await server.expect('GET', 'saved', 200);
  await restoring.step();
  if (await isHeld()) throw new Error('Delivery is still held after the release.');
  await server.stop();
  tell('back-up, restore: what was deleted afterwards is there again, and delivery waited for the release');
}

/** Rotates both kinds of keys while a server works. */
export async function rotateKeys(
  machine: Machine,
  start: Start,
  settings: Variables,
  rootSecret: string,
  tell: Tell,
): Promise<void> {
  const server = await start(settings);
  const keys = async (): Promise<number> => {
    const { text } = await new HttpClient(server.url).send({ method: 'GET', path: '/.well-known/jwks.json' });
    return (JSON.parse(text) as { keys: unknown[] }).keys.length;
  };
  const run = machine.asOperator({ BASE_URL: server.url, BASIC: `root:${rootSecret}` });
  await (await HowTo.of('rotate-keys.md', 'signing-keys', run)).step();
  if ((await keys()) !== 2) throw new Error('The new signing key is not published.');
  await server.stop();
  tell('signing-keys: a second key is published');

  const { SVC_ENCRYPTION_KEY: older = '', DATABASE_URL = '' } = settings;
  const both = { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'), SVC_ENCRYPTION_KEYS_ACCEPTED: older };
  const between = await start({ ...settings, ...both });
  await (await HowTo.of('rotate-keys.md', 'encryption-key', machine.asOperator({ DATABASE_URL, ...both }))).step();
  await between.stop();
  const newer = { ...settings, SVC_ENCRYPTION_KEY: both.SVC_ENCRYPTION_KEY };
  await (await start(newer)).stop(); // a server refuses to start with a key of another database
  tell('encryption-key: a server starts with the new key alone');
}

/** Drains a server. It announces its stop first, and serves until its proxy has noticed. */
export async function drainNode(machine: Machine, start: Start, settings: Variables, tell: Tell): Promise<void> {
  const server = await start({ ...settings, SVC_DRAIN_SECONDS: '2' });
  const ready = async (): Promise<number> => {
    const answer = new HttpClient(server.url).send({ method: 'GET', path: '/health/ready' });
    return (await answer.catch(() => ({ status: 0 }))).status;
  };
  if ((await ready()) !== 200) throw new Error('The server is not ready.');
  const draining = await HowTo.of('deploy.md', 'drain', machine.asOperator({ SERVER_PID: String(server.process.pid) }));
  const step = draining.step();
  await delay(500);
  if ((await ready()) !== 503) throw new Error('The server that drains still says that it is ready.');
  await server.expect('PUT', 'late', 201);
  await step;
  if ((await ready()) !== 0) throw new Error('The server did not end.');
  tell('drain: not ready, served on, and ended');
}
