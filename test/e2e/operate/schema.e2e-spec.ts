import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { startTestApp, type TestApp } from '../../../testing/test-app';

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

  it('has every column of every entity, with the same nullability', async () => {
    const dataSource = app.app.get(DataSource);
    const columns = await dataSource.query<ColumnRow[]>(
      `select table_name, column_name, is_nullable from information_schema.columns where table_schema = 'public'`,
    );
    const known = new Map(
      columns.map((column) => [`${column.table_name}.${column.column_name}`, column.is_nullable === 'YES']),
    );
    // TypeORM registers entities per process: an earlier spec may have loaded those of another module.
    const entities = dataSource.entityMetadatas.filter(({ tableName }) => !tableName.startsWith('acme_'));
    expect(entities).not.toEqual([]);
    for (const { tableName, columns: mapped } of entities) {
      for (const { databaseName, isNullable } of mapped) {
        const name = `${tableName}.${databaseName}`;
        expect([name, known.get(name)]).toEqual([name, isNullable]);
      }
    }
  });
});
