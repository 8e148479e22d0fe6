import { setTimeout as delay } from 'node:timers/promises';
import { declareRestore, releaseDelivery } from '../after-restore/declare-restore';
import { runQuery } from '../bench/own-database';
import { HowTo } from './how-to';
import { type Machine } from './machine';
import { type Served } from './served';

const PAGE = 'run-the-database.md';
const IS_SYNCHRONOUS = `select from pg_stat_replication where application_name = 'standby1' and sync_state = 'sync'`;

/**
 * Tests a point-in-time recovery, a standby, and its promotion. `start` starts a server with the hosts of both clusters
 * in its settings.
 */
export async function runTheDatabase(
  machine: Machine,
  start: () => Promise<Served>,
  tell: (line: string) => void,
): Promise<void> {
  let server = await start();
  let before = '';
  const archiving = await HowTo.of(PAGE, 'point-in-time', (script) =>
    machine.asDatabase({ BEFORE_THE_ACCIDENT: before })(script),
  );
  await archiving.step();
  await archiving.step();
  await server.eventuallyWrites('kept');
  [{ before }] = (await runQuery<{ before: string }>(machine.primary(), 'select now()::text as before')) as [
    { before: string },
  ];
  await delay(1000);
  await server.expect('DELETE', 'kept', 200);
  await server.stop();
  await archiving.step();
  await declareRestore(machine.anyHost);
  server = await start();
  await server.expect('GET', 'kept', 200);
  await releaseDelivery(machine.anyHost);
  tell('point-in-time: what was deleted afterwards is there again');

  const adding = await HowTo.of(PAGE, 'add-standby', machine.asDatabase());
  await adding.step();
  await adding.step();
  for (let tries = 0; (await runQuery(machine.primary(), IS_SYNCHRONOUS)).length === 0; tries++) {
    if (tries === 60) throw new Error('The standby does not follow.');
    await delay(500);
  }
  await server.expect('PUT', 'copied', 201);
  tell('add-standby: a write was acknowledged by both');

  await machine.killDatabase('restored');
  await (await HowTo.of(PAGE, 'promote', machine.asDatabase())).step();
  await server.eventuallyWrites('after');
  await server.expect('GET', 'copied', 200);
  tell('promote: the server goes on with the new primary, without a restart');
  await server.stop();
}
