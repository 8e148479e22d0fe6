import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../../platform/background/background';
import { Statements } from '../../../platform/database/statements';
import { IndexJob } from './index-job';
import { NEXT_STEP } from './parameter-state-statements';

export const INDEX_TASK = 'index of search parameters';

/** How soon a job is taken over whose replica died. */
const POLL_MILLISECONDS = 5_000;

/** A job that is due may be in the hands of another replica. */
const PAUSE_MILLISECONDS = 100;

/** Runs the jobs of {@link IndexJob} one after the other, in the background of every replica. */
@Injectable()
@Background({ task: INDEX_TASK, interval: () => POLL_MILLISECONDS })
export class IndexWorker implements BackgroundTask {
  constructor(
    private readonly job: IndexJob,
    private readonly statements: Statements,
  ) {}

  /** A job that waits for somebody is looked at again when its pause is over. */
  async step(): Promise<number | undefined> {
    const rest = await this.job.step();
    if (rest !== undefined) return rest;
    const { pause } = (await this.statements.runOne<{ pause: number | null }>(NEXT_STEP, [])) ?? {};
    return typeof pause === 'number' ? Math.max(pause, PAUSE_MILLISECONDS) : undefined;
  }
}
