import { Injectable, Logger } from '@nestjs/common';
import { type Resource } from '../../../fhir/types';
import { RegistryEpoch } from '../../../platform/database/registry-epoch';
import { Statements } from '../../../platform/database/statements';
import { UnitOfWork } from '../../../platform/database/unit-of-work';
import { type IndexSnapshot } from '../index-snapshot';
import { SearchIndex } from '../search-index';
import { type LiveParameterRow } from './live-search-parameter';
import {
  ACTIVATE,
  ADVANCE,
  BEGIN_JOB,
  CLAIM,
  COUNT_RESOURCES,
  DELETE,
  LIST_BATCH,
  LIST_WRITERS,
  LOCK_BATCH,
  SET_WRITERS,
} from './live-parameter-statements';
import { deleteRows, insertRows } from './parameter-rows';

const BATCH_SIZE = 200;
/** Of bodies as they are stored; what is read into memory is a few times as much. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Until others may have ended what this job waits for. */
const PAUSE_MILLISECONDS = 50;

interface Job extends LiveParameterRow {
  readonly last_id: string;
  /** Null: nobody asked yet who writes. */
  readonly writers: readonly string[] | null;
}

interface LockedRow {
  readonly id: string;
  readonly resource_key: number;
  readonly main_date: Date;
  readonly body: string;
}

/**
 * Builds and removes the indexes of live parameters, step by step. Each step is one transaction that holds the row of its
 * job, does a batch, and notes how far it came: any replica can take the next one, and one that dies leaves nothing behind.
 */
@Injectable()
export class IndexJob {
  private readonly logger = new Logger(IndexJob.name);
  private compiled: { readonly name: string; readonly snapshot: IndexSnapshot } | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly index: SearchIndex,
    private readonly epoch: RegistryEpoch,
  ) {}

  /** Returns false when no job is due, or others are at all of them. */
  step(): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      const job = await this.statements.runOne<Job & Record<string, unknown>>(CLAIM, []);
      if (job === undefined) return false;
      if (job.writers === null) await this.begin(job);
      else if (job.writers.length > 0) await this.waitFor(job.parameter_key, job.writers);
      else await this.batch(job);
      return true;
    });
  }

  /** From here on, every transaction that is not among the writers knows the parameter. */
  private async begin(job: Job): Promise<void> {
    const { parameter_key: key, resource_type: type } = job;
    const writers = await this.listWriters(null);
    const { count = 0 } = (await this.statements.runOne<{ count: number }>(COUNT_RESOURCES, [type])) ?? {};
    await this.statements.run(BEGIN_JOB, [key, count, writers]);
    this.logger.log(`${verbOf(job)} the index of ${type}.${job.code}: ${count} resources`);
  }

  private async waitFor(key: number, writers: readonly string[]): Promise<void> {
    const left = await this.listWriters(writers);
    await this.statements.run(SET_WRITERS, [key, left, left.length === 0 ? 0 : PAUSE_MILLISECONDS]);
  }

  private async listWriters(among: readonly string[] | null): Promise<readonly string[]> {
    return (await this.statements.runOne<{ writers: string[] }>(LIST_WRITERS, [among]))?.writers ?? [];
  }

  private async batch(job: Job): Promise<void> {
    const { parameter_key: key, resource_type: type } = job;
    const snapshot = this.snapshotOf(job);
    const ids = hasRows(job, snapshot) ? await this.nextIds(job) : [];
    const lastId = ids.at(-1);
    if (lastId === undefined) {
      await this.finish(job);
      return;
    }
    const rows = await this.statements.run<LockedRow & Record<string, unknown>>(LOCK_BATCH, [type, ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    // Up to the first that somebody else holds: it is looked at again, with what then is stored.
    const held = ids.findIndex((id) => !byId.has(id));
    const taken = held < 0 ? ids : ids.slice(0, held);
    await this.replaceRows(job, snapshot, rowsOf(taken, byId));
    const pause = held < 0 ? 0 : PAUSE_MILLISECONDS;
    await this.statements.run(ADVANCE, [key, taken.at(-1) ?? job.last_id, taken.length, pause]);
  }

  /** Compiled once for all batches of a job. */
  private snapshotOf(job: Job): IndexSnapshot {
    const name = `${job.parameter_key} ${job.state}`;
    if (this.compiled?.name !== name)
      this.compiled = { name, snapshot: this.index.snapshotOf({ ...liveParameterOf(job), state: job.state }) };
    return this.compiled.snapshot;
  }

  private async nextIds({ resource_type: type, last_id: lastId }: Job): Promise<string[]> {
    const found = await this.statements.run<{ id: string; size: number }>(LIST_BATCH, [type, lastId, BATCH_SIZE]);
    let bytes = 0;
    const end = found.findIndex(({ size }, index) => (bytes += size) > BATCH_BYTES && index > 0);
    return (end < 0 ? found : found.slice(0, end)).map(({ id }) => id);
  }

  /** What may be there goes by its exact keys; it comes again from the body that is stored now. */
  private async replaceRows(
    { resource_type: type, state }: Job,
    snapshot: IndexSnapshot,
    locked: readonly LockedRow[],
  ): Promise<void> {
    const resources = locked.flatMap(({ resource_key: key, main_date: mainDate, body }) => {
      const { patientHash, unsettled } = snapshot.rowsOf(type, JSON.parse(body) as Resource);
      return unsettled === undefined ? [] : [{ key, mainDate, rows: { ...unsettled.perhaps, patientHash } }];
    });
    const statements = [...deleteRows(resources), ...(state === 'building' ? insertRows(resources) : [])];
    for (const { statement, values } of statements) await this.statements.run(statement, values);
  }

  private async finish(job: Job): Promise<void> {
    await this.statements.run(job.state === 'building' ? ACTIVATE : DELETE, [job.parameter_key]);
    this.epoch.raise();
    const { resource_type: type, code, done_count: count } = job;
    this.unitOfWork.afterCommit(() => {
      this.logger.log(
        `The index of ${type}.${code} is ${job.state === 'building' ? 'complete' : 'gone'}: ${count} resources`,
      );
    });
  }
}

const rowsOf = (ids: readonly string[], byId: ReadonlyMap<string, LockedRow>): readonly LockedRow[] =>
  ids.flatMap((id) => byId.get(id) ?? []);

const verbOf = ({ state }: Job): string => (state === 'building' ? 'Building' : 'Removing');

/** Aliases of built-in parameters are found by the rows of those, as are composites whose parts are searched side by side. */
function hasRows({ resource_type: type, code, state }: Job, { parameters }: IndexSnapshot): boolean {
  const found = state === 'removing' ? parameters.listRemoving(type)[0] : parameters.find(type, code);
  if (found?.composite !== undefined && found.composite.rows === undefined) return false;
  return found?.live !== undefined && found.storedAs.includes(found.parameterId);
}

const liveParameterOf = ({ resource_type: type, code, kind, expression, targets, components }: Job) => ({
  type,
  code,
  kind,
  expression,
  targets,
  components,
});
