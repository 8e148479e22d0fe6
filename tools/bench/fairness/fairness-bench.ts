import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { type Client } from 'pg';
import { textTable } from '../../demo/text-table';
import { type Cleanup } from '../cleanup';
import { LoadClient } from '../load-client';
import { connect } from '../own-database';
import { withPriority } from '../paced-reads';
import { loginOf } from '../prepare-server';
import { fillDatabase } from '../scale/scale-database';
import { quantile } from '../statistics';
import { type SuiteOptions, type SuiteReport, chosen } from '../suite';
import { type OwnContender, setUpTestBed, type TestBed } from '../test-bed';
import { checksOf } from './checks';
import { fairnessCharts, prepareScenes } from './fairness-data';
import { type SceneFigures, runScene } from './run-scene';
import { type Scene } from './scene';
import { SCENES } from './scenes';

/** The number of stored resources: enough to make a search without an index expensive. */
const RESOURCES = 92_000;
/** The number of hostile callers with credentials. */
const CALLERS = 30;
/** The number of connections of the reader: enough that a waiting read delays no other. */
const READER_CONNECTIONS = 500;

/** Measures the server's resources and the latencies of other callers while hostile callers run each scene. */
export async function measureFairness({ sizes, only }: SuiteOptions, cleanup: Cleanup): Promise<SuiteReport> {
  const scenes = chosen(SCENES, only);
  const stage = await setUpStage(sizes?.[0] ?? RESOURCES, cleanup);
  let { server } = stage.bed;
  const figures: SceneFigures[] = [];
  for (const scene of scenes) {
    process.stdout.write(`${scene.name} …\n`);
    // A new server per scene, so that memory left by one scene does not count in the next.
    await server.stop();
    server = await stage.bed.startAgain();
    figures.push(await runOn(server, scene, stage));
  }
  return reportOf(figures);
}

interface Stage {
  readonly bed: TestBed;
  readonly callers: readonly string[];
  readonly attacker: ChildProcess;
  readonly database: Client;
}

async function setUpStage(resources: number, cleanup: Cleanup): Promise<Stage> {
  const bed = await setUpTestBed(cleanup, { fill: (url) => fillDatabase(url, resources, fairnessCharts(resources)) });
  const callers = await prepareScenes(bed, CALLERS);
  const attacker = fork(resolve('dist/tools/bench/fairness/attacker.js'));
  await cleanup.undoing(attacker, (child) => child.kill());
  const database = await cleanup.undoing(connect(bed.server.databaseUrl), (client) => client.end());
  return { bed, callers, attacker, database };
}

async function runOn(server: OwnContender, scene: Scene, stage: Stage): Promise<SceneFigures> {
  const { bed, callers, attacker, database } = stage;
  const reader = new LoadClient(server, READER_CONNECTIONS);
  const baselineReader = new LoadClient(bed.baseline, READER_CONNECTIONS);
  const order = { url: new URL(server.baseUrl).origin, callers, login: loginOf(bed.secrets) };
  try {
    const readers = { reader, baselineReader };
    return await withPriority(() => runScene(scene, { serverPid: server.pid, attacker, ...readers, database, order }));
  } finally {
    reader.close();
    baselineReader.close();
  }
}

function reportOf(figures: readonly SceneFigures[]): SuiteReport {
  const rows: string[][] = [];
  const notes: string[] = [];
  let isKept = true;
  for (const one of figures) {
    for (const [index, check] of checksOf(one).entries()) {
      const verdict = check.promised === '' ? '' : check.isKept ? 'kept' : 'BROKEN';
      rows.push([index === 0 ? one.scene.name : '', check.what, check.measured, check.promised, verdict]);
      isKept &&= check.isKept;
    }
    const { readsP99Milliseconds: most = Infinity } = one.scene.promises;
    if (quantile(one.baselineReads, 0.99) > most)
      notes.push(`${one.scene.name}: the baseline is slower than the limit too. Measure on a quiet machine.`);
    for (const [status, text] of Object.entries(one.attack.refusals)) {
      const isPromised = one.scene.promises.statuses?.includes(Number(status)) ?? false;
      if (!isPromised) notes.push(`${one.scene.name}, an answer ${status}: ${text.slice(-200)}`);
    }
  }
  return { text: [textTable(['scene', 'what', 'measured', 'promised', ''], rows), ...notes].join('\n\n'), isKept };
}
