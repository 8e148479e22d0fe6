import { SearchParameterSet } from '../../../src/search-index/extract/search-parameter-set';
import { Random } from '../../chart/random';
import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { LARGE_BUFFERS, startCluster } from '../start-cluster';
import { chosen } from '../suite';
import { measureCase, type ScaleFigures } from './measure-case';
import { SampledResources } from './sampled-resources';
import { SAMPLED, SCALE_CASES } from './scale-cases';
import { openScaleDatabase } from './scale-database';
import { scaleReportOf } from './scale-report';
import { openScaleSession } from './scale-session';

export interface ScaleOptions {
  readonly sizes: readonly number[];
  /** A folder that keeps the databases for the next run; by default they are removed. */
  readonly keep?: string;
  /** A PostgreSQL of this machine to use instead of a new one; the databases are created and kept in it. */
  readonly cluster?: string;
  /** Measures only classes whose name contains this text. */
  readonly only?: string;
}

/** Measures the PostgreSQL cost of each class of search, on databases of growing size. */
export async function measureScale(options: ScaleOptions, cleanup: Cleanup): Promise<string> {
  const { sizes, keep, only } = options;
  const cluster = options.cluster ?? (await startCluster(cleanup, LARGE_BUFFERS, keep)).url;
  const cases = chosen(SCALE_CASES, only);
  const columns: ScaleFigures[][] = [];
  for (const size of sizes) {
    const session = await cleanup.undoing(openScaleSession(await openScaleDatabase(cluster, size)), (opened) =>
      opened.close(),
    );
    const values = await SampledResources.take(session.statements, SAMPLED, new Random(11));
    const parameters = new SearchParameterSet();
    const progress = new ProgressBar({ label: `measure ${size}`.padEnd(20), total: cases.length });
    const figures: ScaleFigures[] = [];
    for (const bench of cases) {
      figures.push(await measureCase(bench, session, values, parameters));
      progress.advance();
    }
    columns.push(figures);
  }
  return scaleReportOf(sizes, cases, columns);
}
