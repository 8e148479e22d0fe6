import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Statements } from '../platform/database/statements';
import { SWEEP } from './delivery-statements';

/** Removes events without a destination. */
@Injectable()
@Background({ task: 'sweep of events', interval: ({ isDelivering }) => (isDelivering ? 60_000 : 0) })
export class EventSweeper implements BackgroundTask {
  constructor(private readonly statements: Statements) {}

  async step(): Promise<undefined> {
    await this.statements.run(SWEEP, []);
  }
}
