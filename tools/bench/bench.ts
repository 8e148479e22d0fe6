import { loadavg } from 'node:os';
import { readOptions } from '../options';
import { type Cleanup, runUndoing } from './cleanup';
import { SUITE_NAMES } from './suite';

const NAMES = SUITE_NAMES.join(', ');
const USAGE = `npm run bench [-- --suite <name> …]: runs one suite of docs/performance.md, by default "operations".
Suites: ${NAMES}`;

const value = { type: 'string' } as const;
const OPTIONS = { suite: value, only: value, sizes: value, build: value, keep: value, cluster: value } as const;

/** @returns the exit code: 1 when a promise was broken */
async function main(cleanup: Cleanup): Promise<number> {
  const { suite = 'operations', sizes, ...options } = readOptions(USAGE, { options: OPTIONS }).values;
  const name = SUITE_NAMES.find((one) => one === suite);
  if (name === undefined) throw new Error(`--suite takes one of ${NAMES}.`);
  const numbers = sizes === undefined ? {} : { sizes: sizes.split(',').map(Number) };
  const { SUITES } = await import('./suites.js'); // loads the server and more, which takes 3 s
  const { text, isKept } = await SUITES[name]({ ...options, ...numbers }, cleanup);
  const loads = loadavg().map((load) => load.toFixed(1));
  process.stdout.write(`\n${text}\n\nLoad average of the machine at the end: ${loads.join(' ')}\n`);
  return isKept ? 0 : 1;
}

runUndoing(main);
