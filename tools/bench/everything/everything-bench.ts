import { type ChartEntry, generateChart } from '../../chart/chart-generator';
import { type Cleanup } from '../cleanup';
import { fillDatabase } from '../scale/scale-database';
import { LARGE_BUFFERS } from '../start-cluster';
import { setUpServer } from '../test-bed';
import { AnswerReader } from './answer-reader';
import { everythingReportOf } from './everything-report';
import { type EverythingFigures, FORMATS, measureChart } from './measure-chart';

/**
 * Measures `$everything` of one patient for each size, one request at a time. The size is the number of resources of
 * the patient's chart (docs/performance.md, "Charts of any size").
 */
export async function measureEverything(sizes: readonly number[], cleanup: Cleanup): Promise<string> {
  const { server } = await setUpServer(cleanup, {
    postgres: LARGE_BUFFERS,
    fill: (url) =>
      fillDatabase(
        url,
        sizes.reduce((sum, size) => sum + size, 0),
        chartsOf(sizes),
      ),
  });
  const reader = new AnswerReader(server.baseUrl, server.authorization);
  const figures: EverythingFigures[] = [];
  try {
    for (const format of FORMATS) {
      for (const size of sizes) {
        const chart = { size, format, patientId: patientIdOf(size), pid: server.pid };
        figures.push(await measureChart(chart, reader, server.meter));
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
