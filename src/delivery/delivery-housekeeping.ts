import { Injectable, Logger } from '@nestjs/common';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Environment } from '../platform/config/environment';
import { Statements } from '../platform/database/statements';
import { KEEP_DAYS } from './delivery-statements';

/**
 * Creates and drops the daily partitions of the log of attempts (`SVC_DELIVERY_RETENTION_DAYS`). An attempt is stored
 * even if there is no partition for its day.
 */
@Injectable()
@Background({ task: 'housekeeping of delivery', interval: () => 3_600_000 })
export class DeliveryHousekeeping implements BackgroundTask {
  private readonly logger = new Logger(DeliveryHousekeeping.name);

  constructor(
    private readonly statements: Statements,
    private readonly environment: Environment,
  ) {}

  async step(): Promise<undefined> {
    const values = [this.environment.deliveryRetentionDays];
    const kept = await this.statements.runOne<{ stray_rows: number }>(KEEP_DAYS, values);
    const strayRows = kept?.stray_rows ?? 0;
    if (strayRows > 0) this.logger.warn(`${strayRows} attempts are in no partition of a day`);
  }
}
