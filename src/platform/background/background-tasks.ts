import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Ambient } from '../ambient';
import { Environment } from '../config/environment';
import { INDEX_JOB_LOCK, SESSION_SWEEP_LOCK } from '../database/advisory-locks';
import { Statements } from '../database/statements';
import { UnitOfWork } from '../database/unit-of-work';
import { HandlerRegistry } from '../discovery/handler-registry';
import { errorCodeOf } from '../errors/service-error';
import { serviceErrorOf } from '../http/service-error-of';
import { errorTrace } from '../logging/error-trace';
import { family, type MetricFamily } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { Background, type BackgroundDefinition, type BackgroundTask } from './background';

interface TaskState {
  wakes: number;
  failures: number;
  running?: Promise<void> | undefined;
  timer?: NodeJS.Timeout;
}

/** Whether a task may have a lock: modules may not have those from 4,713,000 to 4,713,999 (`advisory-locks.ts`). */
const isTaskLock = (lock: number): boolean =>
  [INDEX_JOB_LOCK, SESSION_SWEEP_LOCK].includes(lock) ||
  (Number.isSafeInteger(lock) && Math.floor(lock / 1000) !== 4713);

/** Runs every provider that has the decorator `@Background`. */
@Injectable()
@MetricsFrom({ source: 'background', path: '/metrics' })
export class BackgroundTasks
  extends HandlerRegistry<BackgroundDefinition, BackgroundTask>
  implements BeforeApplicationShutdown, MetricSource
{
  private readonly logger = new Logger(BackgroundTasks.name);
  /** The owners of locks, by number. */
  private readonly locks = new Map<number, string>();
  private readonly states = new Map<string, TaskState>();
  private isStopping = false;

  constructor(
    discovery: DiscoveryService,
    private readonly environment: Environment,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {
    const members = { task: 'string', interval: 'function', 'lock?': 'number' } as const;
    super(discovery, Background, ({ task }) => task, ['step'], members);
  }

  protected override faultOf(meta: BackgroundDefinition, handler: BackgroundTask): string | undefined {
    const { task, lock } = meta;
    if (lock === undefined) return super.faultOf(meta, handler);
    const taken = isTaskLock(lock) ? this.locks.get(lock) : 'not for modules';
    this.locks.set(lock, `that of the task "${task}"`);
    if (taken === undefined) return super.faultOf(meta, handler);
    return `its lock ${lock} is ${taken}. Use a whole number from 1 to 999,999 that no other task has`;
  }

  /** Starts all tasks that have an interval. Call it after the setup of every module. */
  start(): void {
    for (const { meta } of this.all()) {
      if (meta.interval(this.environment) > 0) void this.wake(meta.task);
    }
  }

  /** Stops the tasks: waits until the current step of each task has ended. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    for (const { timer } of this.states.values()) clearTimeout(timer);
    await Promise.all([...this.states.values()].flatMap(({ running }) => running ?? []));
  }

  /**
   * Runs a task now. If the task is already running, it runs once more afterwards, since it may have read its data
   * before the change that this call announces.
   * @returns a promise that resolves when the task has no work left, and never rejects
   */
  wake(task: string): Promise<void> {
    const found = this.find(task);
    if (found === undefined) throw new Error(`There is no background task "${task}"`);
    if (this.isStopping) return Promise.resolve();
    const state = this.states.get(task) ?? { wakes: 0, failures: 0 };
    this.states.set(task, state);
    clearTimeout(state.timer);
    state.wakes++;
    // The task runs outside the context of the request that wakes it, so it does not have the id and the isolation
    // level of that request.
    state.running ??= Ambient.outside(() => this.run(found.meta, found.handler, state));
    return state.running;
  }

  read(): readonly MetricFamily[] {
    const samples = [...this.states].map(([task, { failures }]) => ({ labels: { task }, value: failures }));
    return [family('counter', 'svc_background_failures_total', 'Runs of background tasks that failed.', samples)];
  }

  private async run(meta: BackgroundDefinition, handler: BackgroundTask, state: TaskState): Promise<void> {
    const interval = meta.interval(this.environment);
    let pause: number;
    let wakes: number;
    do {
      wakes = state.wakes;
      pause = (await this.tryStep(meta, handler, state)) ?? interval;
    } while (!this.isStopping && (state.wakes > wakes || (pause === 0 && interval > 0)));
    state.running = undefined;
    if (this.isStopping || pause === 0) return;
    state.timer = setTimeout(() => void this.wake(meta.task), pause).unref();
  }

  private async tryStep(
    { task, lock }: BackgroundDefinition,
    handler: BackgroundTask,
    state: TaskState,
  ): Promise<number | undefined> {
    try {
      if (lock === undefined) return await handler.step();
      return await this.unitOfWork.run(async () => {
        return (await this.statements.tryLock(lock)) ? handler.step() : undefined;
      });
    } catch (error) {
      this.log(`"${task}" failed and is tried again`, error);
      state.failures++;
      return undefined;
    }
  }

  /** Logs an expected failure, such as a lost database, by its code alone, and any other with its stack. */
  private log(message: string, error: unknown): void {
    const known = serviceErrorOf(error);
    if (known === undefined) this.logger.error(message, errorTrace(error));
    else this.logger.warn(`${message}: ${errorCodeOf(known)}`);
  }
}
