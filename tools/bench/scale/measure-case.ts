import { type SearchParameterSet } from '../../../src/search-index/extract/search-parameter-set';
import { compilePage, compileTotal } from '../../../src/search/compile/compile-search';
import { foundResourceOf } from '../../../src/search/compile/found-resource';
import { type ReadSearch, readSearch } from '../../../src/search/run/read-search';
import { Random } from '../../chart/random';
import { nanosecondsBetween, readProcess } from '../cpu-time';
import { quantile } from '../statistics';
import { type SampledResources } from './sampled-resources';
import { type ScaleCase } from './scale-cases';
import { type ScaleSession } from './scale-session';

/** The cost of one class of search on one database. */
export interface ScaleFigures {
  /** Mean CPU of PostgreSQL per execution. */
  readonly microseconds: number;
  readonly p95Microseconds: number;
  readonly p50Milliseconds: number;
  readonly p95Milliseconds: number;
  /** Mean number of rows found; for a total, the total. */
  readonly rows: number;
}

const WARM_UP = 15;
const RUNS = 80;
const PAGES = 50;

/** Runs the searches of a class in sequence, each with other values. */
export async function measureCase(
  bench: ScaleCase,
  session: ScaleSession,
  values: SampledResources,
  parameters: SearchParameterSet,
): Promise<ScaleFigures> {
  const random = new Random(7);
  const cpu: number[] = [];
  const wall: number[] = [];
  const rows: number[] = [];
  const scope = { type: bench.type, parameters, hashes: session.hashes, baseUrl: '', isLenient: false };
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    const query = new URLSearchParams(`_count=20&${bench.queryOf(values, random)}`);
    const search = readSearch(query, scope, 300);
    const execute = await executionOf(bench, search, session);
    const cpuBefore = await readProcess(session.backendPid);
    const startedAt = performance.now();
    const found = await execute();
    const milliseconds = performance.now() - startedAt;
    const cpuAfter = await readProcess(session.backendPid);
    if (run < WARM_UP) continue;
    wall.push(milliseconds);
    rows.push(found);
    cpu.push(nanosecondsBetween(cpuBefore, cpuAfter) / 1000);
  }
  return {
    microseconds: mean(cpu),
    p95Microseconds: quantile(cpu, 0.95),
    p50Milliseconds: quantile(wall, 0.5),
    p95Milliseconds: quantile(wall, 0.95),
    rows: mean(rows),
  };
}

/** The measured part of a search, after all its preparation. */
async function executionOf(
  bench: ScaleCase,
  search: ReadSearch,
  session: ScaleSession,
): Promise<() => Promise<number>> {
  const { statements, frequencies, included } = session;
  const query = { ...search, clauses: await session.resolver.resolveAll(search.clauses) };
  if (bench.measures === 'total') {
    const total = compileTotal(query, frequencies);
    return async () => (await statements.runOne<{ total: number }>(total.statement, total.values))?.total ?? 0;
  }
  const at = bench.measures === 'fiftieth page' ? await fiftieth(query, session) : query;
  const page = compilePage(at, frequencies);
  const read = async (): Promise<Row[]> => statements.run<Row>(page.statement, page.values);
  if (bench.measures !== 'includes') return async () => (await read()).length;
  return async () => {
    const found = (await read()).slice(0, query.count).map(foundResourceOf);
    return found.length + (await included.of(found, query.includes ?? [])).resources.length;
  };
}

type Row = Parameters<typeof foundResourceOf>[0] & { readonly s0: string | number | Date | null };

/** The same search from its fiftieth page on. */
async function fiftieth(query: ReadSearch, { statements, frequencies }: ScaleSession): Promise<ReadSearch> {
  const pages = compilePage({ ...query, count: query.count * (PAGES - 1) - 1 }, frequencies);
  const last = (await statements.run<Row>(pages.statement, pages.values)).at(-1);
  if (last === undefined) return query;
  const value = last.s0 instanceof Date ? last.s0.getTime() : last.s0;
  return { ...query, position: { side: 'after', key: last.resource_key, values: [value] } };
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
