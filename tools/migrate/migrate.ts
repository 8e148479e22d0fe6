import { resolve } from 'node:path';
import { readEnvironment } from '../../src/platform/config/environment';
import { withKeptCredentials } from '../../src/platform/config/local-credentials';
import { type MigrationSet } from '../../src/platform/database/migration';
import { migrationSetsOf } from '../../src/platform/database/schema/brings-migrations';
import { migrate, type PlannedMigrations, planMigrations } from '../../src/platform/database/schema/migrate';
import { isModule } from '../../src/platform/discovery/definition';
import { assertEncryptionKeySet, checkStart } from '../../src/start-checks';
import { textTable } from '../demo/text-table';
import { callsOf, readOptions } from '../options';
import { runTool } from '../run-tool';
import { withDatabase } from '../with-database';

const USAGE = `migrate [--check] [--modules=<file>]

Brings the schema of the database up to this version, as each start of the server does. Stop the servers first that
docs/how-to/upgrade.md names.
--modules: a compiled file that exports modules of your own, as runServer gets them; their migrations are applied too.
--check: changes nothing, and prints which migrations a start would apply and how large the tables are that they name.
Exit code 1: a start would be refused, by the database or by the settings; the sentence says what to do. So give --check
all settings of the server.
Database: DATABASE_URL, or the embedded one in DATA_DIR, which a start creates.
${callsOf('migrate')}
`;

const write = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The migrations of the modules exported by a file, and of all modules that they import. */
async function setsIn(file: string): Promise<MigrationSet[]> {
  const exported = Object.values((await import(resolve(file))) as Readonly<Record<string, unknown>>);
  const sets = migrationSetsOf(exported.filter(isModule));
  if (sets.length === 0) throw new Error(`${file} exports no module with @BringsMigrations.`);
  return sets;
}

async function check(plan: Promise<PlannedMigrations>): Promise<void> {
  const { names, olderServers, tables } = await plan;
  if (names.length === 0) {
    write('Nothing to do.');
    return;
  }
  write(`A start would apply:\n${names.map((name) => `  ${name}`).join('\n')}\n`);
  if (olderServers !== undefined) write(`${olderServers}\n`);
  if (tables.length === 0) return;
  const size = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  write(
    textTable(
      ['Table', 'Size', 'Rows, about'],
      tables.map(({ name, bytes, rows }) => [name, size(bytes), String(rows)]),
    ),
  );
}

async function main(): Promise<void> {
  const { values } = readOptions(USAGE, {
    options: { check: { type: 'boolean', default: false }, modules: { type: 'string' } },
  });
  const sets = values.modules === undefined ? [] : await setsIn(values.modules);
  const environment = await withKeptCredentials(readEnvironment());
  // A migration needs no key. With one, it is checked as at a start.
  if (values.check) assertEncryptionKeySet(environment);
  const checkDatabase = await checkStart(environment);
  await withDatabase(async (url) => {
    if (values.check) return check(planMigrations(url, sets, checkDatabase));
    await migrate(url, write, sets, checkDatabase);
    write('The schema is that of this version.');
  });
}

runTool(main);
