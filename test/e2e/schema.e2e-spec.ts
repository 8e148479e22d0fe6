import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source-options';
import { migrate } from '../../src/platform/database/migrate';
import { type ClonedDatabase, cloneDatabase } from '../support/clone-database';
import { databaseUrl, dropDatabase, runStatement } from '../support/template-database';
import { startTestApp, type TestApp } from '../support/test-app';

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly is_nullable: 'YES' | 'NO';
}

describe('the schema', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('has every column of every entity, and they agree on what may be null', async () => {
    const dataSource = app.app.get(DataSource);
    const columns = await dataSource.query<ColumnRow[]>(
      `select table_name, column_name, is_nullable from information_schema.columns where table_schema = 'public'`,
    );
    const known = new Map(
      columns.map((column) => [`${column.table_name}.${column.column_name}`, column.is_nullable === 'YES']),
    );
    expect(dataSource.entityMetadatas).not.toEqual([]);
    for (const { tableName, columns: mapped } of dataSource.entityMetadatas) {
      for (const { databaseName, isNullable } of mapped) {
        const name = `${tableName}.${databaseName}`;
        expect([name, known.get(name)]).toEqual([name, isNullable]);
      }
    }
  });
});

describe('the migrations', () => {
  let database: ClonedDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.drop());

  it('go down to nothing and up again, and a second run does nothing', async () => {
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    const tables = (): Promise<{ name: string }[]> =>
      dataSource.query(
        `select table_name as name from information_schema.tables where table_schema = 'public' and table_name <> 'schema_migration' order by 1`,
      );
    const whole = await tables();
    const { length } = dataSource.migrations;
    await undoAll(dataSource);
    expect(await tables()).toEqual([]);
    await migrate(database.url);
    expect(await tables()).toEqual(whole);
    await migrate(database.url);
    expect(await dataSource.query('select count(*)::int as done from schema_migration')).toEqual([{ done: length }]);
    await dataSource.destroy();
  });

  it.each([
    ['another encoding', `encoding 'LATIN1' locale 'C'`],
    ['a locale that knows ASCII alone', `encoding 'UTF8' locale_provider libc locale 'C'`],
  ])('refuse a database of %s', async (_what, options) => {
    const name = `svc_locale_${randomBytes(6).toString('hex')}`;
    await runStatement(database.url, `create database ${name} template template0 ${options}`);
    try {
      await expect(migrate(databaseUrl(database.url, name))).rejects.toThrow('The database must know the letters');
    } finally {
      await dropDatabase(database.url, name);
    }
  });

  it('refuse a database that a newer server has migrated', async () => {
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    await dataSource.query(
      `insert into schema_migration (timestamp, name) values (9999999999999, 'FromTheFuture9999999999999')`,
    );
    await expect(migrate(database.url)).rejects.toThrow('FromTheFuture9999999999999');
    await dataSource.query(`delete from schema_migration where name = 'FromTheFuture9999999999999'`);
    await dataSource.destroy();
  });

  it('can be started by replicas at the same time', async () => {
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    await undoAll(dataSource);
    await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    expect(await dataSource.query('select count(*)::int as done from schema_migration')).toEqual([
      { done: dataSource.migrations.length },
    ]);
    await dataSource.destroy();
  });
});

async function undoAll(dataSource: DataSource): Promise<void> {
  for (let left = dataSource.migrations.length; left > 0; left--) await dataSource.undoLastMigration();
}
