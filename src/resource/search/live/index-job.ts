import { Injectable, Logger } from '@nestjs/common';
import { type Resource } from '../../../fhir/types';
import { RegistryEpoch } from '../../../platform/database/registry-epoch';
import { Statements } from '../../../platform/database/statements';
import { UnitOfWork } from '../../../platform/database/unit-of-work';
import { type StoredBody, ResourceStore } from '../../store/resource-store';
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

interface BatchRow {
  readonly id: string;
  readonly version: number;
  readonly resource_key: number;
  readonly main_date: Date;
  readonly body: string;
}

/**
 * Builds and removes the indexes of live parameters, step by step. Each step is one transaction that holds the row of its
 * job, indexes a batch of resources anew, and notes how far it came: any replica can take the next one, and one that dies
 * leaves nothing behind.
 */
@Injectable()
export class IndexJob {
  private readonly logger = new Logger(IndexJob.name);

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly index: SearchIndex,
    private readonly store: ResourceStore,
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
    // Looked up before the first batch only: some parameters have no rows.
    const ids = job.last_id !== '' || this.hasRows(job) ? await this.nextIds(job) : [];
    const lastId = ids.at(-1);
    if (lastId === undefined) {
      await this.finish(job);
      return;
    }
    const rows = await this.statements.run<BatchRow & Record<string, unknown>>(LOCK_BATCH, [type, ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    // Up to the first that somebody else holds: it is looked at again, with what then is stored.
    const held = ids.findIndex((id) => !byId.has(id));
    const taken = held < 0 ? ids : ids.slice(0, held);
    await this.store.reindex(taken.flatMap((id) => storedBodyOf(type, byId.get(id))));
    const pause = held < 0 ? 0 : PAUSE_MILLISECONDS;
    await this.statements.run(ADVANCE, [key, taken.at(-1) ?? job.last_id, taken.length, pause]);
  }

  private async nextIds({ resource_type: type, last_id: lastId }: Job): Promise<string[]> {
    const found = await this.statements.run<{ id: string; size: number }>(LIST_BATCH, [type, lastId, BATCH_SIZE]);
    let bytes = 0;
    const end = found.findIndex(({ size }, index) => (bytes += size) > BATCH_BYTES && index > 0);
    return (end < 0 ? found : found.slice(0, end)).map(({ id }) => id);
  }

  /** Aliases of built-in parameters are found by the rows of those, as are composites whose parts are searched side by side. */
  private hasRows(job: Job): boolean {
    const { resource_type: type, code, kind, expression, targets, components } = job;
    const parameter = { type, code, kind, expression, targets, components, state: 'building' } as const;
    const found = this.index.builtIn.withLive([parameter]).find(type, code);
    if (found?.composite !== undefined && found.composite.rows === undefined) return false;
    return found?.live !== undefined && found.storedAs.includes(found.parameterId);
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

const storedBodyOf = (type: string, row: BatchRow | undefined): StoredBody[] => {
  if (row === undefined) return [];
  const { resource_key: key, main_date: mainDate, version, body } = row;
  return [{ type, key, mainDate, version, value: JSON.parse(body) as Resource }];
};

const verbOf = ({ state }: Job): string => (state === 'building' ? 'Building' : 'Removing');
