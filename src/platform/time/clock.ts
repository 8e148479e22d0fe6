import { Injectable } from '@nestjs/common';

/** The time of this server. Injected, so that specs can set it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}
