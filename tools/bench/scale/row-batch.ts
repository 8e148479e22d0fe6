import { type Client } from 'pg';
import { type SearchRows } from '../../../src/search-index/extract/search-rows';

export interface FilledResource {
  readonly key: number;
  readonly type: string;
  readonly id: string;
  readonly body: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  readonly referenceHash: number;
  readonly rows: SearchRows;
}

/** The columns of each table with their types, in the order used by `add`. */
const TABLES = {
  resource:
    'resource_key bigint, main_date timestamptz, updated_at timestamptz, reference_hash bigint, present bigint, version integer, type text, id text, method text, body text',
  search_token:
    'token_hash bigint, main_date timestamptz, resource_key bigint, patient_hash bigint, system_hash integer',
  reference_link: 'target_hash bigint, main_date timestamptz, resource_key bigint, parameter_id integer',
  search_date: 'low timestamptz, high timestamptz, main_date timestamptz, resource_key bigint, parameter_id integer',
  search_number:
    'code_hash bigint, value double precision, main_date timestamptz, resource_key bigint, parameter_id integer, unit_hash integer',
  search_string: 'main_date timestamptz, resource_key bigint, parameter_id integer, value_hash bigint, value text',
  search_unit: 'unit_hash integer, system text, code text, unit text',
} as const;

type Table = keyof typeof TABLES;

/** Rows of several hundred resources, written by one statement per table. */
export class RowBatch {
  private readonly columns = new Map<Table, unknown[][]>();

  add({ key, type, id, body, updatedAt, referenceHash, rows }: FilledResource): void {
    const mainDate = instant(rows.mainDate ?? updatedAt);
    const present = rows.present.toString();
    this.row('resource', key, mainDate, instant(updatedAt), referenceHash, present, 1, type, id, 'PUT', body);
    for (const { hash, systemHash } of rows.tokens)
      this.row('search_token', hash, mainDate, key, rows.patientHash, systemHash);
    for (const { targetHash, parameterId } of rows.references)
      this.row('reference_link', targetHash, mainDate, key, parameterId);
    for (const { low, high, parameterId } of rows.dates)
      this.row('search_date', instant(low), instant(high), mainDate, key, parameterId);
    for (const { codeHash, value, parameterId, unitHash } of rows.numbers)
      this.row('search_number', codeHash, value, mainDate, key, parameterId, unitHash);
    for (const { parameterId, valueHash, value } of rows.strings)
      this.row('search_string', mainDate, key, parameterId, valueHash, value);
    for (const { unitHash, system = '', code = '', unit = '' } of rows.units)
      this.row('search_unit', unitHash, system, code, unit);
  }

  async send(client: Client): Promise<void> {
    for (const [table, columns] of this.columns) {
      const types = TABLES[table].split(', ').map((column) => column.split(' '));
      const names = types.map(([name]) => name).join(', ');
      const arrays = types.map(([, ...type], index) => `$${index + 1}::${type.join(' ')}[]`).join(', ');
      await client.query(
        `insert into ${table} (${names}) select * from unnest(${arrays}) on conflict do nothing`,
        columns,
      );
    }
  }

  private row(table: Table, ...values: readonly unknown[]): void {
    const columns = this.columns.get(table) ?? values.map(() => []);
    this.columns.set(table, columns);
    for (const [index, value] of values.entries()) columns[index]?.push(value);
  }
}

const instant = (epochMilliseconds: number): string => new Date(epochMilliseconds).toISOString();
