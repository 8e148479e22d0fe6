import { setTimeout as delay } from 'node:timers/promises';
import { type Client } from 'pg';
import { DatabaseClient } from '../../src/platform/database/database-client';
import { planMigrations } from '../../src/platform/database/schema/migrate';
import { callsOf, readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { runTool } from '../run-tool';
import { withDatabase } from '../with-database';
import { progressOfTypes, type ReindexProgress, requestReindex } from './request-reindex';

const USAGE = `reindex [Type …]

Rebuilds the search index rows of all resources of these types, or of all types. The servers of the database do the work
in the background, beside reads and writes. Meanwhile searches report that they may miss matches, and $everything of
these types gets 503. The tool shows the progress. It can be ended at any time: the servers continue, and a call
without types shows the rest, and starts no other rebuild.
Database: DATABASE_URL, or the embedded one in DATA_DIR.
${callsOf('reindex')}
`;

/** The time in which a server must begin the work. Servers look for new work every five seconds. */
const WAIT_SECONDS = 20;
const POLL_MILLISECONDS = 500;

const write = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<void> {
  const { positionals } = readOptions(USAGE, { options: {}, allowPositionals: true });
  await withDatabase(async (url) => {
    if ((await planMigrations(url)).names.length > 0)
      throw new Error(
        'The database does not have the schema of this version yet: start a server, or run the tool migrate.',
      );
    const client = new DatabaseClient({ connectionString: url, application_name: 'reindex' });
    await client.connect();
    try {
      const types = await requestReindex(client, positionals, write);
      await follow(client, types);
    } finally {
      await client.end();
    }
  });
}

async function follow(client: Client, types: readonly string[]): Promise<void> {
  const begun = await untilBegun(client, types);
  if (begun === undefined) {
    write('Noted. No server works on this database now: the next one that starts builds the index.');
    return;
  }
  if (begun.total === 0) {
    write('Nothing is stored of these types.');
    return;
  }
  let shown = Math.min(begun.done, begun.total - 1); // leaves a step, so that the full bar is shown in any case
  const bar = new ProgressBar({ label: 'reindex', total: begun.total, done: shown });
  while (shown < begun.total) {
    const { isDone, done } = await progressOfTypes(client, types);
    // `done` may include resources that were created or deleted meanwhile, so the bar is full only when the job is
    // done.
    const now = isDone ? begun.total : Math.min(done, begun.total - 1);
    if (now > shown) bar.advance(now - shown);
    else await delay(POLL_MILLISECONDS);
    shown = Math.max(shown, now);
  }
}

async function untilBegun(client: Client, types: readonly string[]): Promise<ReindexProgress | undefined> {
  for (let waited = 0; waited < WAIT_SECONDS * 1000; waited += POLL_MILLISECONDS) {
    const progress = await progressOfTypes(client, types);
    if (progress.isBegun) return progress;
    if (waited === 0) write(`Waiting for a server to begin: one that runs does so within ${WAIT_SECONDS} s.`);
    await delay(POLL_MILLISECONDS);
  }
  return undefined;
}

runTool(main);
