import { Injectable, Logger } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { RENEW_GENERATION } from './delivery-statements';

const PROMOTED =
  'The database was promoted or restored to a point in time. Where its replication was asynchronous, acknowledged ' +
  'writes may be missing. Delivery goes on under a new generation.';

const HELD =
  'Delivery is held, since the database was restored or moved to another cluster, until an operator runs ' +
  '"npm run after-restore -- --release".';

/** Renews the generation sent in notifications when the database's history changes (ADR 0036). */
@Injectable()
export class DeliveryGeneration {
  private readonly logger = new Logger(DeliveryGeneration.name);
  private isHeld = false;

  constructor(private readonly statements: Statements) {}

  /** Creates a new generation if the history changed; call it about once a second. Logs once if delivery is held. */
  async renew(): Promise<void> {
    const row = await this.statements.runOne<{ finding: string | null; is_held: boolean }>(RENEW_GENERATION, []);
    if (row?.finding === 'timeline') this.logger.warn(PROMOTED);
    if (row?.is_held === true && !this.isHeld) this.logger.warn(HELD);
    this.isHeld = row?.is_held === true;
  }
}
