import { Injectable } from '@nestjs/common';

/**
 * The time of this server. Injected, so that specs can set it (`TestApp.atTime`).
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
