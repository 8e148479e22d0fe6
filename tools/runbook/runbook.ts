import { type Cleanup, runUndoing } from '../bench/cleanup';
import { newServer } from '../bench/new-server';
import { freePorts } from '../failover/programs';
import { readOptions } from '../options';
import { backUpAndRestore, drainNode, lookAround, rotateKeys } from './keep-it-running';
import { Machine, type Variables } from './machine';
import { runTheDatabase } from './run-the-database';
import { Served } from './served';

const USAGE = `npm run runbook: executes the blocks of docs/how-to that begin with "# <how-to>: <step>", on a temporary PostgreSQL.
It needs Debian's packages postgresql and curl.`;

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function main(cleanup: Cleanup): Promise<void> {
  readOptions(USAGE, { options: {} });
  const machine = await Machine.start(cleanup);
  const [metricsPort = 0] = await freePorts(1);
  const { secrets, variables } = newServer(machine.primary());
  const settings: Variables = { ...variables, SVC_METRICS_PORT: String(metricsPort) };
  const start = (more: Variables): Promise<Served> => Served.start(cleanup, secrets.rootSecret, more);

  await lookAround(machine, start, settings, tell);
  await backUpAndRestore(machine, start, settings, tell);
  await drainNode(machine, start, settings, tell);
  await runTheDatabase(machine, () => start({ ...settings, DATABASE_URL: machine.anyHost }), tell);
  await rotateKeys(machine, start, { ...settings, DATABASE_URL: machine.anyHost }, secrets.rootSecret, tell);
}

runUndoing(main);
