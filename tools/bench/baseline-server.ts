import { createHash, randomUUID } from 'node:crypto';
import { type AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import { Pool, type PoolConfig, type QueryConfig } from 'pg';
import { firstChunk, MOST_LINKS } from '../../src/everything/plan/first-chunk';
import { localKey } from '../../src/fhir/reference';
import { dataSourceOptions } from '../../src/platform/database/data-source-options';
import { type Statement } from '../../src/platform/database/statement';
import { type HashKey } from '../../src/search-index/extract/half-siphash';
import { RowHashes } from '../../src/search-index/extract/row-hashes';
import { READ_HASH_KEY } from '../../src/search-index/read-row-hashes';
import { READ_CURRENT, type ResourceRow } from '../../src/store/resource-statements';
import { FIND_LIVE_SESSION } from '../../src/session/sessions';
import { deliverAll } from './baseline-delivery';
import { type BaselinePlan, baselinePlan } from './baseline-plan';

/**
 * The baseline: the same responses with Express 5 and node-postgres alone. It runs the same statements on the same
 * tables with the same pool settings, including the session lookup. No Nest, no validation, no policies, and nothing
 * computed that is known in advance.
 */

const POOL_SIZE = 16;
const TYPE = 'Observation';

const url = process.env.DATABASE_URL ?? '';
const { extra } = dataSourceOptions(url) as { readonly extra?: PoolConfig };
const pool = new Pool({ ...extra, connectionString: url, max: POOL_SIZE });

const configOf = ({ name, text }: Statement, values: readonly unknown[]): QueryConfig => ({
  name,
  text,
  values: [...values],
});

async function rowsOf(statement: Statement, values: readonly unknown[]): Promise<ResourceRow[]> {
  return (await pool.query<ResourceRow>(configOf(statement, values))).rows;
}

let hashes: RowHashes;
let plan: BaselinePlan;

/** The next key of a resource, far above the keys that the server assigned before its database was copied. */
let nextKey = 1_000_000_000;

async function create(request: Request, response: Response): Promise<void> {
  const insert = plan.creates.get(String(request.body));
  if (insert === undefined) {
    send(response, 400, '');
    return;
  }
  const { text, statement, values } = insert.of({ key: nextKey++, id: randomUUID(), updatedAt: new Date() });
  await pool.query(configOf(statement, values));
  send(response, 201, text);
}

async function read(request: Request, response: Response): Promise<void> {
  const [row] = await rowsOf(READ_CURRENT, [request.params.type, request.params.id]);
  send(response, row === undefined ? 404 : 200, row?.body ?? '');
}

interface CountedRow extends ResourceRow {
  readonly total?: number | null;
}

async function search(request: Request, response: Response): Promise<void> {
  const planned = plan.searches.get(request.url.slice(request.url.indexOf('?') + 1));
  if (planned === undefined) {
    send(response, 400, '');
    return;
  }
  const rows: readonly CountedRow[] = await rowsOf(planned.page.statement, planned.page.values);
  const total = rows[0]?.total ?? rows.length;
  send(response, 200, bundle(total, rows.slice(0, planned.count)));
}

const NO_COMPARTMENT = {
  parameterIdsByType: new Map(),
  hasItself: false,
  codesById: new Map(),
  assertFinished: () => undefined,
};
const ALL_ENTRIES = { types: undefined, since: undefined, period: undefined, limit: undefined, included: undefined };

/**
 * Answers `$everything`. Only a transaction can limit the time of these statements alone, so there is one, as in the
 * server.
 */
async function everything({ params: { id } }: Request<{ id: string }>, response: Response): Promise<void> {
  const client = await pool.connect();
  const patient = { patientId: id, patientHash: hashes.ofTarget(localKey('Patient', id)) };
  const compartment = { ...NO_COMPARTMENT, parameterIds: plan.compartmentParameters };
  const { statement, values } = firstChunk({ ...ALL_ENTRIES, ...patient, compartment }, MOST_LINKS);
  const [, , { rows }] = await Promise.all([
    client.query('BEGIN READ ONLY'),
    client.query('SET LOCAL statement_timeout = 60000'),
    client.query<ResourceRow>(configOf(statement, values)),
  ]);
  await client.query('COMMIT');
  client.release();
  send(response, 200, bundle(rows.length, rows));
}

async function transact(request: Request, response: Response): Promise<void> {
  const insert = plan.transactions.get(String(request.body));
  if (insert === undefined) {
    send(response, 400, '');
    return;
  }
  const { rows, statement, values } = insert(() => ({ key: nextKey++, id: randomUUID(), updatedAt: new Date() }));
  await pool.query(configOf(statement, values));
  const entries = rows.map(
    ({ id, updatedAt }) =>
      `{"response":{"status":"201 Created","location":"${TYPE}/${id}/_history/1","etag":"W/\\"1\\"","lastModified":"${updatedAt.toISOString()}"}}`,
  );
  send(response, 200, `{"resourceType":"Bundle","type":"transaction-response","entry":[${entries.join(',')}]}`);
}

function bundle(total: number, rows: readonly ResourceRow[]): string {
  const entries = rows.map(
    ({ type, id, body }) =>
      `{"fullUrl":"http://bench.example/fhir/${type}/${id}","resource":${body},"search":{"mode":"match"}}`,
  );
  return `{"resourceType":"Bundle","type":"searchset","total":${total},"entry":[${entries.join(',')}]}`;
}

function send(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/fhir+json; charset=utf-8');
  response.end(text);
}

const app = express()
  .disable('x-powered-by')
  .disable('etag')
  .use(express.text({ type: () => true, limit: '20mb' }))
  .use(async (request, response, next) => {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const session = await rowsOf(FIND_LIVE_SESSION, [createHash('sha256').update(token).digest()]);
    if (session.length === 0) send(response, 401, '');
    else next();
  })
  .get('/fhir/Patient/:id/$everything', everything)
  .get('/fhir/:type/:id', read)
  .get(`/fhir/${TYPE}`, search)
  .post(`/fhir/${TYPE}`, create)
  .post('/fhir', transact)
  .post('/deliver', async (request, response) => {
    await deliverAll(pool, String(request.body));
    send(response, 200, '');
  });

async function start(): Promise<void> {
  const [key] = (await pool.query<HashKey>(READ_HASH_KEY.text)).rows;
  if (key === undefined) throw new Error('The database has no key of its search rows');
  hashes = new RowHashes(key);
  const { rows: versions } = await pool.query<{ version: string }>('select version from search_parameter_version');
  plan = baselinePlan({ hashes, parametersVersion: Number(versions[0]?.version) });
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}

void start();
