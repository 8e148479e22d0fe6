import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';
import { Slots } from './slots';

/** Longest wait for room; most HTTP clients give up later. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * The bytes that all requests of this process hold in memory: bodies with the values derived from them, collected
 * answers, and answers that no socket has taken. One caller may hold at most two thirds. Large bodies must leave a
 * quarter of both limits free, so that uploads never block small writes and answers. By default, bodies over 15 MiB are
 * processed one at a time: a Patient of 17 MiB takes 330 MB.
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
