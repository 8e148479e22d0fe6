import { randomBytes } from 'node:crypto';
import { type ChartEntry, generateChart } from '../../chart/chart-generator';
import { type HttpCall, HttpClient } from '../../http-client';
import { jsonBody } from '../../json-body';
import { accessTokenOf, succeed } from '../prepare-server';
import { chartsOf } from '../scale/fill-charts';
import { type ServerBed } from '../test-bed';

/** The number of Binaries. Together they make a page of 10 MB. */
const BINARIES = 1_000;
const BINARY_BYTES = 7_500;
/** The number of snapshots of one record, which have 50 MB together. */
const SNAPSHOTS = 50;
const SNAPSHOT_BYTES = 750_000;
/** The chart of one patient, about 22 MB. */
const LONG_CHART = { seed: 1_000_001, size: 20_000, idPrefix: 'fairness-' };
/** The number of Observations that all refer to each other. */
export const LINKED = 40;

export const LONG_PATIENT = generateChart(LONG_CHART).patientId;
export const RECORD = { id: 'fairness-record', resourceType: 'SDCDocument' };

/** Charts of ordinary patients and one very long chart, `size` resources in all. */
export function* fairnessCharts(size: number): Generator<ChartEntry> {
  yield* generateChart(LONG_CHART).entries;
  yield* chartsOf(size - LONG_CHART.size);
}

/** Stores the data of the scenes, and creates Clients with all rights. Returns their Authorization headers. */
export async function prepareScenes({ server, secrets }: ServerBed, callers: number): Promise<readonly string[]> {
  const client = new HttpClient(new URL(server.baseUrl).origin);
  const root = { user: 'root', password: secrets.rootSecret };
  const send = (method: HttpCall['method'], path: string, body: object): Promise<unknown> =>
    succeed(client, { method, path, authorization: root, body: jsonBody(body) });

  const batch = (entry: readonly object[]): Promise<unknown> =>
    send('POST', '/fhir', { resourceType: 'Bundle', type: 'batch', entry });
  const data = randomBytes(BINARY_BYTES).toString('base64');
  await batch(Array.from({ length: BINARIES }, (_, n) => putOf('Binary', `page-${n}`, { contentType: 'x/y', data })));
  const hasMember = Array.from({ length: LINKED }, (_, n) => ({ reference: `Observation/linked-${n}` }));
  await batch(
    hasMember.map((_, n) =>
      putOf('Observation', `linked-${n}`, { status: 'final', code: { coding: [{ code: `c${n}` }] }, hasMember }),
    ),
  );
  const content = randomBytes(SNAPSHOT_BYTES).toString('base64');
  for (let n = 0; n < SNAPSHOTS; n++) {
    const resource = { ...RECORD, status: 'completed', n, content };
    const params = { resource, user: { id: 'admin', resourceType: 'User' } };
    await send('POST', '/rpc', { method: 'svc.sdc.addendum/add-to-history', params });
  }
  const tokens: string[] = [];
  for (let n = 0; n < callers; n++) {
    const [id, secret] = [`hostile-${n}`, randomBytes(16).toString('hex')];
    await send('PUT', `/Client/${id}`, { secret, grant_types: ['client_credentials'] });
    await send('PUT', `/AccessPolicy/${id}`, { engine: 'allow', link: [{ resourceType: 'Client', id }] });
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    tokens.push(`Bearer ${await accessTokenOf(client, form)}`);
  }
  return tokens;
}

const putOf = (resourceType: string, id: string, members: object): object => ({
  resource: { resourceType, id, ...members },
  request: { method: 'PUT', url: `${resourceType}/${id}` },
});
