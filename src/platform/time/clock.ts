import { Injectable } from '@nestjs/common';

/**
 * The time of this server. Injected, so that specs can set it (`TestApp.atTime`).
 * @example
 * constructor(private readonly clock: Clock) {}
 */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}
