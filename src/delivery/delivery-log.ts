import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Environment } from '../platform/config/environment';
import { Statements } from '../platform/database/statements';
import { KEEP_DAYS } from './delivery-statements';

const INTERVAL_MILLISECONDS = 3_600_000;

/**
 * Keeps the log of attempts: partitions of the days to come are made a week ahead, those that are over go
 * (`SVC_DELIVERY_RETENTION_DAYS`). An attempt that finds no partition of its day is kept all the same.
 */
@Injectable()
export class DeliveryLog implements OnApplicationBootstrap {
  private readonly logger = new Logger(DeliveryLog.name);

  constructor(
    private readonly statements: Statements,
    private readonly environment: Environment,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.keepDays();
  }

  @Interval(INTERVAL_MILLISECONDS)
  async keepDays(): Promise<void> {
    try {
      const values = [this.environment.deliveryRetentionDays];
      const kept = await this.statements.runOne<{ stray_rows: number }>(KEEP_DAYS, values);
      const strayRows = kept?.stray_rows ?? 0;
      if (strayRows > 0) this.logger.warn(`${strayRows} attempts are in no partition of a day`);
    } catch (error) {
      this.logger.warn(
        `Partitions are looked after again in an hour: ${error instanceof Error ? error.name : 'unknown'}`,
      );
    }
  }
}
