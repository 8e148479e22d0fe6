import { migrate, planMigrations } from '../../src/platform/database/schema/migrate';
import { textTable } from '../demo/text-table';
import { readOptions } from '../options';
import { withDatabase } from '../with-database';

const USAGE = `npm run migrate [-- --check]

Brings the schema of the database up to this version, as each start of the server does. Stop the servers first that
docs/upgrading.md names.
--check: changes nothing, and prints which migrations a start would apply and how large the tables are that they name.
Exit code 1: the database is not one that this version can start on; the sentence says what to do.
Database: DATABASE_URL, or the embedded one in DATA_DIR. In the image: node dist/tools/migrate/migrate.js
`;

const write = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function check(url: string): Promise<void> {
  const { names, tables } = await planMigrations(url);
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
  const { values } = readOptions(USAGE, { options: { check: { type: 'boolean', default: false } } });
  await withDatabase(async (url) => {
    if (values.check) return check(url);
    await migrate(url, write);
    write('The schema is that of this version.');
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
