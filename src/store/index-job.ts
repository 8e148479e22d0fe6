import { Injectable, Logger } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { Background, type BackgroundTask } from '../platform/background/background';
import { INDEX_JOB_LOCK } from '../platform/database/advisory-locks';
import { pipelined } from '../platform/database/pipelined';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { type StoredBody, ResourceStore } from './resource-store';
import { type IndexedResource } from './write-statements';
import {
  ADVANCE,
  CLAIM,
  FINISH,
  IS_BUSY,
  LOCK_BATCH,
  NEXT_STEP,
  SET_WRITERS,
} from '../search-index/states/parameter-state-statements';
import { ParameterStates } from '../search-index/states/parameter-states.repository';

export const INDEX_TASK = 'index of search parameters';

/** Longest time until another replica continues the job of a replica that died. */
const POLL_MILLISECONDS = 5_000;
/**
 * Maximum number of resources in a step. Writers of these resources wait for the step: a few dozen take about as many
 * milliseconds.
 */
const BATCH_SIZE = 50;
/** Maximum number of bytes of stored bodies in a step. In memory, the bodies take a few times as much. */
const BATCH_BYTES = 1024 * 1024;
/** A pass over a large type logs its progress after each of so many resources. */
const LOGGED_EACH = 10_000;
/** Pause while the job waits for transactions to end. */
const PAUSE_MILLISECONDS = 50;
/** While other sessions are active, the job pauses for this many times the duration of its step. */
const RESTS_PER_BATCH = 3;

/** Parameters of one type that one pass over its resources processes. */
interface Pass {
  readonly keys: readonly string[];
  readonly type: string;
  readonly codes: readonly string[];
  readonly doneCount: number;
  readonly totalCount: number;
  readonly lastId: string;
  /** Transactions to wait for first; null if no job has begun these parameters. */
  readonly writers: readonly string[] | null;
}

/** A resource of a step. All columns except the id are null if another transaction locks the resource. */
interface BatchRow {
  readonly id: string;
  readonly version: number | null;
  readonly resource_key: number | null;
  readonly main_date: Date | null;
  readonly body: string | null;
}

/**
 * Builds and removes the indexes of parameters in steps. Each step is one transaction. It locks the states of the
 * parameters of one type, indexes a batch of resources again and stores the position. Any replica can take the next
 * step. A replica that dies during a step leaves no partial work, since its transaction is undone.
 */
@Injectable()
@Background({ task: INDEX_TASK, interval: () => POLL_MILLISECONDS, lock: INDEX_JOB_LOCK })
export class IndexJob implements BackgroundTask {
  private readonly logger = new Logger(IndexJob.name);

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly states: ParameterStates,
    private readonly store: ResourceStore,
    private readonly epoch: RegistryEpoch,
  ) {}

  async step(): Promise<number | undefined> {
    const pass = await this.statements.runOne<Pass>(CLAIM, []);
    if (pass === undefined) return this.untilNext();
    const { keys, writers } = pass;
    if (writers?.length === 0) return this.batch(pass);
    if (writers === null) await this.states.begin();
    else await this.waitFor(keys, writers);
    return 0;
  }

  /**
   * Milliseconds until the next step. At least a pause, since the transaction that changes a definition may lock a pass
   * that is due.
   */
  private async untilNext(): Promise<number | undefined> {
    const next = await this.statements.runOne<{ pause: number }>(NEXT_STEP, []);
    return next && Math.max(next.pause, PAUSE_MILLISECONDS);
  }

  private async waitFor(keys: Pass['keys'], writers: readonly string[]): Promise<void> {
    const left = await this.states.listWriters(writers);
    await this.statements.run(SET_WRITERS, [keys, left, left.length === 0 ? 0 : PAUSE_MILLISECONDS]);
  }

  private async batch(pass: Pass): Promise<number> {
    const startedMs = performance.now();
    const { keys, type, lastId, doneCount, totalCount } = pass;
    const bounds = [BATCH_SIZE, BATCH_BYTES];
    const next = await this.statements.run<BatchRow>(LOCK_BATCH, [type, lastId, ...bounds]);
    if (next.length === 0) {
      await this.finish(pass);
      return 0;
    }
    // The step ends before the first resource that is locked; the next step reads it again.
    const held = next.findIndex(({ body }) => body === null);
    const { rows, count } = await this.indexed(type, held < 0 ? next : next.slice(0, held));
    const pause = held === count ? PAUSE_MILLISECONDS : 0;
    const [, , busy] = await pipelined([
      this.store.reindex(rows, false),
      this.statements.run(ADVANCE, [keys, next[count - 1]?.id ?? lastId, count, pause]),
      this.statements.runOne<{ is_busy: boolean }>(IS_BUSY, []),
    ]);
    const done = doneCount + count;
    if (Math.floor(done / LOGGED_EACH) > Math.floor(doneCount / LOGGED_EACH))
      this.unitOfWork.afterCommit(() => {
        this.logger.log(`Indexing ${type} anew: ${done} of ${totalCount} resources are done`);
      });
    return busy?.is_busy === true ? (performance.now() - startedMs) * RESTS_PER_BATCH : 0;
  }

  /**
   * The index rows of a batch. A resource beyond the limits of stored SearchParameters keeps its rows, so that it does
   * not stop the job. The batch ends there, since such a resource takes seconds.
   */
  private async indexed(type: string, batch: readonly BatchRow[]): Promise<{ rows: IndexedResource[]; count: number }> {
    const rows: IndexedResource[] = [];
    for (const [at, row] of batch.entries()) {
      try {
        for (const body of storedBodyOf(type, row)) rows.push(await this.store.indexed(body));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.kind !== 'unprocessable') throw error;
        this.logger.error(`${type}/${row.id} is not indexed anew, so searches may miss it. ${error.message}`);
        return { rows, count: at + 1 };
      }
    }
    return { rows, count: batch.length };
  }

  private async finish({ keys, type, codes, doneCount }: Pass): Promise<void> {
    await this.statements.run(FINISH, [keys]);
    this.epoch.raise();
    const [only, ...others] = codes;
    const what = others.length === 0 ? `${type}.${only ?? ''}` : `${type} (${codes.length} parameters)`;
    this.unitOfWork.afterCommit(() => {
      this.logger.log(`The index of ${what} is complete: ${doneCount} resources`);
    });
  }
}

const storedBodyOf = (
  type: string,
  { id, resource_key: key, main_date: mainDate, version, body }: BatchRow,
): StoredBody[] =>
  key === null || mainDate === null || version === null || body === null
    ? []
    : [{ type, id, key, mainDate, version, text: body, value: JSON.parse(body) as Resource }];
