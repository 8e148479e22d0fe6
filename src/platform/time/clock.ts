import { Injectable } from '@nestjs/common';

/**
 * The time of this server. It is injected, so that specs can set the time (`TestApp.atTime`).
 * @example
 * &#64;Injectable()
 * export class Shifts {
 *   constructor(private readonly clock: Clock) {}
 *
 *   isLate(): boolean {
 *     return this.clock.now().getHours() >= 14;
 *   }
 * }
 */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}

/** Seconds since 1970, as JWTs and webhooks hold times (NumericDate of RFC 7519, section 2). */
export const epochSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);
