import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';
import { Slots } from './slots';

/** A body waits as long; most clients of HTTP give up later. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * The bytes that all requests of this process hold in memory: bodies with what is made of them, collected answers,
 * answers that no socket has taken. One caller holds at most two thirds of them. Large bodies leave a quarter of both,
 * so uploads never stop small writes and answers. By default bodies over 15 MiB are worked on one at a time: a Patient
 * of 17 MiB takes 330 MB.
 */
@Injectable()
export class MemoryBudget extends Slots {
  constructor({ memoryBudgetBytes }: Environment) {
    super({
      permits: memoryBudgetBytes,
      perCaller: (memoryBudgetBytes * 2) / 3,
      reserved: 1 / 4,
      longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
      busyMessage: 'The server works on too many large requests or answers at once. Try again.',
      retryAfterSeconds: 2,
    });
  }
}
