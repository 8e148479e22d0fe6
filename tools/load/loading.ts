import { ProgressBar, type ProgressOutput } from '../progress-bar';
import { hashOf, listFiles } from './list-files';
import { type LoadState } from './load-state';
import { type LoadEntry, type LoadUnit } from './load-unit';
import { type LoadFile, readUnits } from './read-units';
import { assertAnswers, type Failure, type LoadTarget, sendUnit } from './send-unit';

export interface LoadOptions {
  readonly target: LoadTarget;
  readonly state: LoadState;
  /** The number of concurrent requests. */
  readonly lanes: number;
  readonly output?: ProgressOutput;
  /** Ends the load when it is aborted, after the requests in flight. */
  readonly signal?: AbortSignal;
}

export interface LoadReport {
  /** The number of entries stored in this run, by type. */
  readonly storedByType: ReadonlyMap<string, number>;
  /** The number of entries that an earlier run stored. */
  readonly skipped: number;
  readonly failures: readonly (Failure & { readonly file: string })[];
  /** Files that could not be read to the end. */
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[];
}

/**
 * Loads files into a server: first the files to which others refer, then the rest.
 * @throws Error when no server answers, without further tries
 */
export async function load(paths: readonly string[], options: LoadOptions): Promise<LoadReport> {
  await assertAnswers(options.target);
  const report = { storedByType: new Map<string, number>(), skipped: 0, failures: [], unreadable: [] } as Growing;
  const { groups, total } = await survey(await filesOf(await listFiles(paths)));
  const progress = new ProgressBar({
    label: 'load',
    total,
    ...(options.output === undefined ? {} : { output: options.output }),
  });
  for (const files of groups) await loadGroup(files, options, report, progress);
  return report;
}

interface Growing {
  readonly storedByType: Map<string, number>;
  skipped: number;
  readonly failures: (Failure & { file: string })[];
  readonly unreadable: { file: string; reason: string }[];
}

const filesOf = (paths: readonly string[]): Promise<LoadFile[]> =>
  Promise.all(paths.map(async (path) => ({ path, hash: await hashOf(path) })));

/**
 * The loading order of types. Exports of charts refer to these types by criteria, so these must be stored first, and
 * Organizations and Locations before all others.
 */
const RANKS: readonly (readonly string[])[] = [
  ['Organization', 'Location'],
  ['Practitioner', 'PractitionerRole', 'HealthcareService', 'Endpoint'],
];

function rankOf({ resourceType }: LoadEntry): number {
  const rank = RANKS.findIndex((types) => types.includes(resourceType));
  return rank < 0 ? RANKS.length : rank;
}

/** Groups the files in loading order by their content, since file names differ by tool. */
async function survey(files: readonly LoadFile[]): Promise<{ groups: LoadFile[][]; total: number }> {
  const groups: LoadFile[][] = [...RANKS, []].map(() => []);
  let total = 0;
  for (const file of files) {
    let rank = 0;
    for await (const { entries } of unitsOf([file], () => undefined)) {
      total += entries.length;
      rank = entries.reduce((highest, entry) => Math.max(highest, rankOf(entry)), rank);
    }
    groups[rank]?.push(file);
  }
  return { groups, total };
}

async function loadGroup(
  files: readonly LoadFile[],
  { target, state, lanes, signal }: LoadOptions,
  report: Growing,
  progress: ProgressBar,
): Promise<void> {
  const units = unitsOf(files, (file, reason) => report.unreadable.push({ file, reason }));
  const lane = async (): Promise<void> => {
    while (signal?.aborted !== true) {
      const next = await units.next();
      if (next.done === true) break;
      const unit = next.value;
      const entries = state.remainingOf(unit);
      report.skipped += unit.entries.length - entries.length;
      progress.advance(unit.entries.length - entries.length);
      if (entries.length === 0) continue;
      const failures = await sendUnit(target, { ...unit, entries });
      const failed = new Set(failures.map(({ entry }) => entry));
      for (const { resourceType } of entries.filter((entry) => !failed.has(entry))) {
        report.storedByType.set(resourceType, (report.storedByType.get(resourceType) ?? 0) + 1);
      }
      report.failures.push(...failures.map((failure) => ({ ...failure, file: unit.file })));
      state.note(unit, [...failed]);
      progress.advance(entries.length);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The units of all files, in sequence. An unreadable file is reported, and the other files are still read. */
async function* unitsOf(
  files: readonly LoadFile[],
  onUnreadable: (file: string, reason: string) => void,
): AsyncGenerator<LoadUnit> {
  for (const file of files) {
    try {
      yield* readUnits(file);
    } catch (error) {
      onUnreadable(file.path, error instanceof Error ? error.message : String(error));
    }
  }
}
