import { ProgressBar } from '../../progress-bar';
import { type CpuMeter } from '../cpu-meter';
import { measureMemory } from '../resident-memory';
import { median } from '../statistics';
import { type AnswerReader, type ReadAnswer } from './answer-reader';

/** The formats in which a chart is requested. */
export const FORMATS = ['ndjson', 'bundle'] as const;
export type EverythingFormat = (typeof FORMATS)[number];

const ACCEPT: Readonly<Record<EverythingFormat, string>> = {
  ndjson: 'application/fhir+ndjson',
  bundle: 'application/fhir+json',
};

/** The cost of one response. */
export interface EverythingFigures {
  readonly format: EverythingFormat;
  /** Resources of the chart; those outside the patient's compartment are not returned. */
  readonly size: number;
  readonly resources: number;
  readonly requests: number;
  readonly answerBytes: number;
  readonly firstByteMilliseconds: number;
  readonly milliseconds: number;
  /** CPU time for one response, of server and database; undefined if the kernel does not report it. */
  readonly serverMicroseconds: number | undefined;
  readonly databaseMicroseconds: number | undefined;
  /** Peak of the server's resident memory, minus the value before the first counted request. */
  readonly growthBytes: number | undefined;
}

interface Chart {
  readonly format: EverythingFormat;
  readonly size: number;
  readonly patientId: string;
  /** The server's process id. */
  readonly pid: number;
}

/** The number of resources read for each figure, independent of the size of the chart. */
const RESOURCES = 120_000;
const ROUNDS = 3;

/** Reads the chart repeatedly; the first round is a warm-up and not counted. */
export async function measureChart(
  { format, size, patientId, pid }: Chart,
  reader: AnswerReader,
  meter: CpuMeter,
): Promise<EverythingFigures> {
  const requests = Math.max(1, Math.round(RESOURCES / ROUNDS / size));
  const progress = new ProgressBar({ label: `${format} ${size}`.padEnd(20), total: requests * (ROUNDS + 1) });
  const readAll = async (): Promise<ReadAnswer[]> => {
    const answers: ReadAnswer[] = [];
    for (let request = 0; request < requests; request++) {
      answers.push(await reader.read(`/Patient/${patientId}/$everything`, ACCEPT[format]));
      progress.advance();
    }
    return answers;
  };
  await readAll();
  const { result: rounds, memory } = await measureMemory(pid, async () => {
    const measured = [];
    for (let round = 0; round < ROUNDS; round++) measured.push(await meter.measure(readAll));
    return measured;
  });
  const answers = rounds.flatMap(({ result }) => result);
  const cpuOf = (of: 'serverMicroseconds' | 'databaseMicroseconds'): number | undefined =>
    rounds[0]?.cpu === undefined ? undefined : median(rounds.map(({ cpu }) => (cpu?.[of] ?? 0) / requests));
  const first = answers[0];
  return {
    format,
    size,
    resources: (format === 'bundle' ? first?.total : first?.lines) ?? 0,
    requests: answers.length,
    answerBytes: first?.sizeBytes ?? 0,
    firstByteMilliseconds: median(answers.map((answer) => answer.firstByteMilliseconds)),
    milliseconds: median(answers.map((answer) => answer.milliseconds)),
    serverMicroseconds: cpuOf('serverMicroseconds'),
    databaseMicroseconds: cpuOf('databaseMicroseconds'),
    growthBytes: memory.before && memory.peak && memory.peak - memory.before,
  };
}
