import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../platform/background/background';
import { Statements } from '../../platform/database/statements';
import { SWEEP_CALLS } from './kept-call-statements';

/**
 * Deletes expired rows of calls that were kept to answer repeats. A delay is harmless, since an expired row is ignored.
 */
@Injectable()
@Background({ task: 'sweep of kept RPC calls', interval: () => 60_000 })
export class KeptCallSweeper implements BackgroundTask {
  constructor(private readonly statements: Statements) {}

  async step(): Promise<number | undefined> {
    const { has_more: hasMore } = (await this.statements.runOne<{ has_more: boolean }>(SWEEP_CALLS, [])) ?? {};
    return hasMore === true ? 0 : undefined;
  }
}
