import { DiscoveryService } from '@nestjs/core';
import { type Environment } from '../config/environment';

/** Name and interval of a background task. */
export interface BackgroundDefinition {
  /** Its name in the log and the metrics. */
  readonly task: string;
  /** Milliseconds from the end of a run to the next one; 0: it only runs when it is woken. */
  readonly interval: (environment: Environment) => number;
  /**
   * One of `advisory-locks.ts`: only one replica at a time takes a step, which is one transaction. By default each
   * replica does.
   */
  readonly lock?: number;
}

/** Work that no request waits for. */
export interface BackgroundTask {
  /**
   * Does a part that is over soon: a stop of the server waits for it. An error is logged, and the next run tries again.
   * @returns milliseconds until the next step, where that is sooner than the interval; 0 where more is left to do
   */
  step(): Promise<number | undefined>;
}

/**
 * Registers a {@link BackgroundTask}: it runs when the server has started, then at its interval, one run at a time.
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
