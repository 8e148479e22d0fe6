import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';
import { Slots } from './slots';

/** How long a request waits for memory. Most HTTP clients give up later than that. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * Limits the bytes that all requests of this process have in memory: bodies with the values derived from them,
 * collected answers, and answers that their socket has not taken yet. One caller gets at most two thirds of the budget.
 * Large bodies must leave a quarter free, both of the budget and of the caller's part, so that uploads never block
 * small writes and answers. With the default budget, bodies over 15 MiB are processed one at a time: a Patient of 17
 * MiB takes 330 MB.
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
