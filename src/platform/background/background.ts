import { DiscoveryService } from '@nestjs/core';
import { type Environment } from '../config/environment';

/** Name and interval of a background task. */
export interface BackgroundDefinition {
  /** Its name in the log and the metrics. */
  readonly task: string;
  /** Milliseconds between the end of a run and the next one; 0: it runs only when it is woken. */
  readonly interval: (environment: Environment) => number;
  /**
   * A lock of `advisory-locks.ts`: only one replica at a time takes a step, which is one transaction. By default, each
   * replica does.
   */
  readonly lock?: number;
}

/** Work outside of requests. */
export interface BackgroundTask {
  /**
   * Does one short step: a stop of the server waits for it. An error is logged, and the next run tries again.
   * @returns milliseconds until the next step, if earlier than the interval; 0 if more work is left
   */
  step(): Promise<number | undefined>;
}

/**
 * Registers a {@link BackgroundTask}: it runs after the start of the server, then at its interval, one run at a time.
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
