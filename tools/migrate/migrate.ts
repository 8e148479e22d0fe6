import { resolve } from 'node:path';
import { type Type } from '@nestjs/common';
import { type MigrationSet } from '../../src/platform/database/migration';
import { migrationSetsOf } from '../../src/platform/database/schema/brings-migrations';
import { migrate, planMigrations } from '../../src/platform/database/schema/migrate';
import { textTable } from '../demo/text-table';
import { readOptions } from '../options';
import { withDatabase } from '../with-database';

const USAGE = `npm run migrate [-- --check] [--modules=<file>]

Brings the schema of the database up to this version, as each start of the server does. Stop the servers first that
docs/how-to/upgrade.md names.
--modules: a compiled file that exports modules of your own, as runServer gets them; their migrations are applied too.
--check: changes nothing, and prints which migrations a start would apply and how large the tables are that they name.
Exit code 1: the database is not one that this version can start on; the sentence says what to do.
Database: DATABASE_URL, or the embedded one in DATA_DIR. In the image: node dist/tools/migrate/migrate.js
`;

const write = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The migrations of the modules exported by a file, and of all modules that they import. */
async function setsIn(file: string): Promise<MigrationSet[]> {
  const exported = Object.values((await import(resolve(file))) as Readonly<Record<string, unknown>>);
  const sets = migrationSetsOf(exported.filter((value): value is Type => typeof value === 'function'));
  if (sets.length === 0) throw new Error(`${file} exports no module with @BringsMigrations.`);
  return sets;
}

async function check(url: string, sets: readonly MigrationSet[]): Promise<void> {
  const { names, tables } = await planMigrations(url, sets);
  if (names.length === 0) {
    write('Nothing to do.');
    return;
  }
  write(`A start would apply:\n${names.map((name) => `  ${name}`).join('\n')}\n`);
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
  await withDatabase(async (url) => {
    if (values.check) return check(url, sets);
    await migrate(url, write, sets);
    write('The schema is that of this version.');
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
