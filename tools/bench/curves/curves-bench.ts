import { textTable } from '../../demo/text-table';
import { HttpClient } from '../../http-client';
import { jsonBody } from '../../json-body';
import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { type CpuShare } from '../cpu-meter';
import { totalMicroseconds } from '../measured';
import { median } from '../statistics';
import { type SuiteOptions, type SuiteReport, chosen } from '../suite';
import { type OwnContender, setUpServer } from '../test-bed';
import { type CurveCase, type Sender } from './curve-case';
import { REQUEST_CASES } from './request-cases';
import { ROW_CASES } from './row-cases';
import { RULE_CASES } from './rule-cases';
import { SEARCH_CASES } from './search-cases';

const CASES = [...ROW_CASES, ...REQUEST_CASES, ...SEARCH_CASES, ...RULE_CASES];
/** The number of requests of each size. The first one is not counted. */
const REQUESTS = 3;
/**
 * The limit of growth: requests that take longer than LONG_MILLISECONDS are flagged if their cost grows faster than
 * this power of the size.
 */
const MOST_EXPONENT = 1.3;
const LONG_MILLISECONDS = 100;

/** The cost of one request. */
interface Cost {
  readonly milliseconds: number;
  readonly cpu: CpuShare | undefined;
}

/** The medians of one size. */
interface Point extends Cost {
  readonly size: number;
}

/** Measures how the cost of each kind of request grows from n to 4n to 16n. */
export async function measureCurves({ only }: SuiteOptions, cleanup: Cleanup): Promise<SuiteReport> {
  const cases = chosen(CASES, only);
  const { server } = await setUpServer(cleanup);
  const send = senderTo(server);
  const progress = new ProgressBar({ label: 'curves'.padEnd(20), total: cases.length });
  const rows: string[][] = [];
  const errors: string[] = [];
  for (const curve of cases) {
    try {
      rows.push(await measureCurve(curve, send, server));
    } catch (error) {
      // The other curves are still measured after a curve has failed.
      rows.push([curve.name, ...FAILED]);
      errors.push(`${curve.name}: ${String(error)}`);
    }
    progress.advance();
  }
  const flagged = rows.filter((row) => row.at(-1) !== '').length;
  const text = [
    textTable(HEADINGS, rows),
    `Medians of ${REQUESTS} requests, one at a time, sizes in turns. Exponents are of the CPU time: 1 is in proportion to the size. ${flagged} flagged.`,
    ...errors,
  ];
  return { text: text.join('\n\n'), isKept: flagged === 0 };
}

/**
 * The table row of a curve; its last cell contains the fault, if any. The sizes take turns: writes cost more with a
 * larger index, so the index must be alike for all sizes.
 */
async function measureCurve(curve: CurveCase, send: Sender, server: OwnContender): Promise<string[]> {
  for (const size of curve.sizes) await curve.setUp?.(size, send);
  const sizes = curve.sizes.map((size) => ({ size, requests: [] as Cost[] }));
  for (let round = 0; round <= REQUESTS; round++) {
    for (const { size, requests } of sizes) {
      const cost = await measureRequest(curve, size, send, server);
      if (round > 0) requests.push(cost);
    }
  }
  const points = sizes.map(({ size, requests }) => ({ size, ...medianOf(requests) }));
  return [...rowOf(curve.name, points), flagOf(curve, points)];
}

async function measureRequest(curve: CurveCase, size: number, send: Sender, { meter }: OwnContender): Promise<Cost> {
  if (curve.before !== undefined) await send(curve.before(size));
  const call = curve.request(size);
  const { result, cpu } = await meter.measure(async () => {
    const startedAt = performance.now();
    await send(call);
    return performance.now() - startedAt;
  });
  return { milliseconds: result, cpu };
}

function medianOf(requests: readonly Cost[]): Cost {
  const cpuOf = (of: keyof CpuShare): number => median(requests.map(({ cpu }) => cpu?.[of] ?? Number.NaN));
  return {
    milliseconds: median(requests.map(({ milliseconds }) => milliseconds)),
    cpu: { serverMicroseconds: cpuOf('serverMicroseconds'), databaseMicroseconds: cpuOf('databaseMicroseconds') },
  };
}

/** Sends calls as the administrator. Error responses are thrown, not measured. */
function senderTo({ baseUrl, authorization }: OwnContender): Sender {
  const client = new HttpClient(new URL(baseUrl).origin);
  const bearer = authorization.replace(/^Bearer /, '');
  return async ({ method, path, body, user }) => {
    const call = { method, path, authorization: user ?? { bearer } };
    const answer = await client.send(body === undefined ? call : { ...call, body: jsonBody(body) });
    const isRefused = answer.status > 299 || answer.text.startsWith('{"error"');
    if (isRefused) throw new Error(`${method} ${path.slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  };
}

const NUMBERS = ['    ms', '', '', 'CPU ms', '', '', 'database ms', '', '', 'exponents', ''];
const HEADINGS = ['request', 'sizes', ...NUMBERS, ''];
const FAILED = ['', ...NUMBERS.map(() => ''), 'FAILED'];

function rowOf(name: string, points: readonly Point[]): string[] {
  const shown = (numbers: readonly number[]): string[] =>
    numbers.map((number) => number.toFixed(number < 10 ? 1 : 0).padStart(6));
  return [
    name,
    points.map(({ size }) => size).join(' '),
    ...shown(points.map(({ milliseconds }) => milliseconds)),
    ...shown(points.map((point) => cpuMilliseconds(point))),
    ...shown(points.map(({ cpu }) => (cpu?.databaseMicroseconds ?? Number.NaN) / 1_000)),
    ...exponentsOf(points).map((exponent) => exponent.toFixed(2).padStart(5)),
  ];
}

const cpuMilliseconds = ({ cpu }: Point): number => (cpu === undefined ? Number.NaN : totalMicroseconds(cpu) / 1_000);

/** The exponent of CPU time growth, for each step of the size. */
function exponentsOf(points: readonly Point[]): number[] {
  return points.slice(1).map((point, index) => {
    const before = points[index] ?? point;
    return Math.log(cpuMilliseconds(point) / cpuMilliseconds(before)) / Math.log(point.size / before.size);
  });
}

/** The fault of a curve; empty for a curve within its limits. */
function flagOf({ promise }: CurveCase, points: readonly Point[]): string {
  const isSteep = exponentsOf(points).some(
    (exponent, index) => exponent > MOST_EXPONENT && (points[index + 1]?.milliseconds ?? 0) > LONG_MILLISECONDS,
  );
  const broken = points.find(({ size, milliseconds }) => size === promise?.size && milliseconds > promise.milliseconds);
  const flags = [
    ...(isSteep ? ['STEEP'] : []),
    ...(broken === undefined || promise === undefined ? [] : [`over ${promise.milliseconds} ms at ${promise.size}`]),
  ];
  return flags.join(', ');
}
