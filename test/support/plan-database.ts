import { Client } from 'pg';
import { sessionSettings } from '../../src/platform/database/data-source-options';
import { type Statement } from '../../src/platform/database/statement';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';

interface Bound {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

export interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** A separate database for inspecting plans, on a connection with the server's settings. */
export class PlanDatabase {
  private constructor(
    private readonly database: ClonedDatabase,
    readonly client: Client,
    /** The major version of PostgreSQL. */
    readonly major: number,
  ) {}

  static async open(): Promise<PlanDatabase> {
    const database = await cloneDatabase();
    const client = new Client({ connectionString: database.url, options: sessionSettings(60) });
    await client.connect();
    const { rows } = await client.query<{ major: number }>(
      `select current_setting('server_version_num')::integer / 10000 as major`,
    );
    return new PlanDatabase(database, client, rows[0]?.major ?? 0);
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.database.drop();
  }

  /** The generic plan of the statement, which does not depend on its values; one line per step. */
  async planOf(bound: Bound): Promise<string> {
    return (await this.explained<string>('costs off', bound)).join('\n');
  }

  /** Runs the statement with these values; returns the plan with the rows that each step read. */
  async measuredPlanOf(bound: Bound): Promise<PlanNode> {
    const [plans] = await this.explained<readonly { readonly Plan: PlanNode }[]>(
      'analyze, buffers, timing off, format json',
      bound,
    );
    const [plan] = plans ?? [];
    if (plan === undefined) throw new Error('PostgreSQL explained nothing');
    return plan.Plan;
  }

  /** A binary array in PostgreSQL's text form; the OID of its elements is in its third word. */
  private async arrayLiteralOf(array: Buffer): Promise<string> {
    const type = await this.client.query<{ type: string }>('select format_type($1, null) as type', [
      array.readInt32BE(8),
    ]);
    const { rows } = await this.client.query<{ text: string }>(`select $1::${type.rows[0]?.type}[]::text as text`, [
      array,
    ]);
    return literalOf(rows[0]?.text);
  }

  private async explained<Line>(options: string, { statement, values }: Bound): Promise<Line[]> {
    await this.client.query('deallocate all');
    await this.client.query(`prepare shape as ${statement.text}`);
    const literals: string[] = [];
    for (const value of values)
      literals.push(Buffer.isBuffer(value) ? await this.arrayLiteralOf(value) : literalOf(value));
    const given = values.length === 0 ? '' : `(${literals.join(', ')})`;
    const { rows } = await this.client.query<{ 'QUERY PLAN': Line }>(`explain (${options}) execute shape ${given}`);
    return rows.map((row) => row['QUERY PLAN']);
  }
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = Array.isArray(value) ? `{${value.map(itemOf).join(',')}}` : textOf(value);
  return `'${text.replaceAll("'", "''")}'`;
}

const itemOf = (item: unknown): string => (item === null || item === undefined ? 'null' : JSON.stringify(textOf(item)));
const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
