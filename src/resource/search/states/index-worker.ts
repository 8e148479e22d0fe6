import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Statements } from '../../../platform/database/statements';
import { RequestContext } from '../../../platform/http/request-context';
import { IndexJob } from './index-job';
import { NEXT_STEP } from './parameter-state-statements';

/** How soon a job is taken over whose replica died. */
const POLL_MILLISECONDS = 5_000;

/** A job that is due may be in the hands of another replica. */
const PAUSE_MILLISECONDS = 100;

/** Runs the jobs of {@link IndexJob} one after the other, in the background of every replica. */
@Injectable()
export class IndexWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(IndexWorker.name);
  private working: Promise<void> | undefined;
  private isWanted = false;
  private isStopping = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly job: IndexJob,
    private readonly statements: Statements,
    private readonly scheduler: SchedulerRegistry,
    private readonly requests: RequestContext,
  ) {}

  onApplicationBootstrap(): void {
    const poll = setInterval(() => {
      this.wake();
    }, POLL_MILLISECONDS);
    this.scheduler.addInterval(IndexWorker.name, poll);
    this.wake();
  }

  /** The step that runs is finished; the next one is for whoever comes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.working;
  }

  /** Looks for something to do, now. */
  wake(): void {
    if (this.isStopping) return;
    this.isWanted = true;
    // The request that wakes it has no part in the steps, neither its id nor the isolation level that it asked for.
    this.working ??= this.requests
      .outside(() => this.work())
      .finally(() => {
        this.working = undefined;
        if (this.isWanted) this.wake();
      });
  }

  private async work(): Promise<void> {
    this.isWanted = false;
    clearTimeout(this.timer);
    try {
      let rest = await this.job.step();
      while (rest === 0 && !this.isStopping) rest = await this.job.step();
      if (rest === undefined) await this.scheduleNext();
      else this.wakeAfter(rest);
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown error';
      this.logger.warn(`A step of an index failed and is tried again: ${name}`);
    }
  }

  /** A job that waits for somebody is looked at again when its pause is over. */
  private async scheduleNext(): Promise<void> {
    if (this.isStopping) return;
    const { pause } = (await this.statements.runOne<{ pause: number | null }>(NEXT_STEP, [])) ?? {};
    if (typeof pause === 'number') this.wakeAfter(Math.max(pause, PAUSE_MILLISECONDS));
  }

  private wakeAfter(milliseconds: number): void {
    if (this.isStopping) return;
    this.timer = setTimeout(() => {
      this.wake();
    }, milliseconds);
    this.timer.unref();
  }
}
