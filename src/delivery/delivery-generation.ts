import { Injectable, Logger } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { READ_HOLD, RENEW_GENERATION } from './delivery-statements';

export const RELEASE = 'npm run after-restore -- --release';

const WARNINGS: Readonly<Record<string, string>> = {
  timeline:
    'The database was promoted or restored to a point in time. Where its replication was asynchronous, acknowledged ' +
    'writes may be missing. Delivery goes on under a new generation.',
  cluster: `The database was moved to another cluster. Delivery is held until an operator runs "${RELEASE}".`,
};

/** Renews the generation sent in notifications when the database's history changes (ADR 0036). */
@Injectable()
export class DeliveryGeneration {
  private readonly logger = new Logger(DeliveryGeneration.name);

  constructor(private readonly statements: Statements) {}

  /** Creates a new generation if the history changed; call it about once a second. */
  async renew(): Promise<void> {
    const found = await this.statements.runOne<{ finding: string | null }>(RENEW_GENERATION, []);
    const warning = WARNINGS[found?.finding ?? ''];
    if (warning !== undefined) this.logger.warn(warning);
  }

  /** Logs once at start if delivery is held. */
  async warnWhereHeld(): Promise<void> {
    const hold = await this.statements.runOne<{ is_held: boolean }>(READ_HOLD, []);
    if (hold?.is_held === true) this.logger.warn(`Delivery is held after a restore, until "${RELEASE}" is run.`);
  }
}
