import { resolve } from 'node:path';
import { type ChartEntry, generateChart } from '../../chart/chart-generator';
import { ChildServer } from '../child-server';
import { type Cleanup } from '../cleanup';
import { CpuMeter } from '../cpu-meter';
import { newServer } from '../new-server';
import { databaseUrlOf, postgresFacts, runQuery } from '../own-database';
import { prepareServer } from '../prepare-server';
import { fillDatabase } from '../scale/scale-database';
import { startCluster } from '../start-cluster';
import { AnswerReader } from './answer-reader';
import { everythingReportOf } from './everything-report';
import { type EverythingFigures, FORMATS, measureChart } from './measure-chart';

const DATABASE = 'bench_everything';

/** Measures `$everything` of one chart of each size, one request at a time (docs/performance.md, "Charts of any size"). */
export async function measureEverything(sizes: readonly number[], cleanup: Cleanup): Promise<string> {
  const cluster = await startCluster(undefined, cleanup);
  await runQuery(cluster, `create database ${DATABASE}`);
  const databaseUrl = databaseUrlOf(cluster, DATABASE);
  await fillDatabase(
    databaseUrl,
    sizes.reduce((sum, size) => sum + size, 0),
    chartsOf(sizes),
  );
  const { secrets, variables } = newServer(databaseUrl);
  const server = await cleanup.undoing(ChildServer.start(resolve('dist/src/main.js'), variables), (started) =>
    started.stop(),
  );
  // No event of the bench leads there.
  const authorization = `Bearer ${await prepareServer(server.url, secrets, 'http://127.0.0.1:9/')}`;
  const { postmasterPid } = await postgresFacts(cluster);
  const meter = new CpuMeter(server.pid, postmasterPid);
  const reader = new AnswerReader(`${server.url}/fhir`, authorization);
  const figures: EverythingFigures[] = [];
  try {
    for (const format of FORMATS) {
      for (const size of sizes) {
        const chart = { size, format, patientId: patientIdOf(size), pid: server.pid };
        figures.push(await measureChart(chart, reader, meter));
      }
    }
  } finally {
    reader.close();
  }
  return everythingReportOf(figures);
}

const idPrefixOf = (size: number): string => `everything-${size}-`;
const patientIdOf = (size: number): string => `${idPrefixOf(size)}patient-1`;

function* chartsOf(sizes: readonly number[]): Generator<ChartEntry> {
  for (const size of sizes) yield* generateChart({ seed: size, size, idPrefix: idPrefixOf(size) }).entries;
}
