import { DiscoveryService } from '@nestjs/core';
import { type Environment } from '../config/environment';

/** The name and interval of a background task. */
export interface BackgroundDefinition {
  /** The name of the task in the log and the metrics. */
  readonly task: string;
  /** Milliseconds between the end of a run and the next run. With 0, the task runs only when it is woken. */
  readonly interval: (environment: Environment) => number;
  /**
   * The number of an advisory lock of PostgreSQL, from 1 to 999,999, which no other task has. With a lock, only one
   * replica at a time does a step, and a step is one transaction. Without one, each replica runs the task.
   */
  readonly lock?: number;
}

/** A task that the server does outside of requests. */
export interface BackgroundTask {
  /**
   * Does one step. It must be short, since a stop of the server waits for it. If it throws, the error is logged, and
   * the next run tries again.
   * @returns milliseconds until the next step, if that is earlier than the interval; 0 if more work is left
   */
  step(): Promise<number | undefined>;
}

/**
 * Registers a {@link BackgroundTask}. It runs after the start of the server and then at its interval, one run at a
 * time.
 * @example
 * &#64;Injectable()
 * &#64;Background({ task: 'acme-count-wards', interval: () => 60_000 })
 * export class CountWards implements BackgroundTask {
 *   constructor(private readonly reader: ResourceReader) {}
 *
 *   async step(): Promise<undefined> {
 *     console.log((await this.reader.list('Ward')).length);
 *   }
 * }
 */
export const Background = DiscoveryService.createDecorator<BackgroundDefinition>();
