import { measureAgainst } from './against/against-bench';
import { measureCapture } from './capture/capture-bench';
import { type Cleanup } from './cleanup';
import { measureCoverage } from './coverage/coverage-bench';
import { measureCurves } from './curves/curves-bench';
import { measureDelivery } from './delivery/delivery-bench';
import { measureEverything } from './everything/everything-bench';
import { measureFairness } from './fairness/fairness-bench';
import { measureFlood } from './login-flood';
import { measureOperations } from './operations-bench';
import { measureReindex } from './reindex/reindex-bench';
import { measureScale } from './scale/scale-bench';
import { type Suite, type SuiteName, type SuiteOptions } from './suite';
import { setUpServer } from './test-bed';
import { measureTurns } from './turns/turns-bench';

/** A suite that only prints figures, without limits. */
const figures =
  (measure: (options: SuiteOptions, cleanup: Cleanup) => Promise<string>): Suite =>
  async (options, cleanup) => ({ text: await measure(options, cleanup), isKept: true });

/** Every suite by name (docs/performance.md). */
export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  operations: (_, cleanup) => measureOperations(cleanup),
  against: measureAgainst,
  capture: figures(async (_, cleanup) => measureCapture((await setUpServer(cleanup)).server, cleanup)),
  coverage: figures(({ only }, cleanup) => measureCoverage(only, cleanup)),
  curves: measureCurves,
  delivery: figures(({ only }, cleanup) => measureDelivery(only, cleanup)),
  everything: figures(({ sizes = [200, 2_000, 20_000, 100_000] }, cleanup) => measureEverything(sizes, cleanup)),
  fairness: measureFairness,
  flood: figures(({ sizes: [count = 500] = [] }, cleanup) => measureFlood(count, cleanup)),
  reindex: measureReindex,
  scale: figures(({ sizes = [92_000, 460_000], ...options }, cleanup) => measureScale({ sizes, ...options }, cleanup)),
  turns: figures((_, cleanup) => measureTurns(cleanup)),
};
