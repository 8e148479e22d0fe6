import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Statements } from '../../platform/database/statements';
import { SWEEP } from './page-statements';

const INTERVAL_MILLISECONDS = 60_000;

/** Deletes expired lists of pages. It may be late: an expired list is refused anyway. */
@Injectable()
export class ListSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ListSweeper.name);
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly scheduler: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const interval = setInterval(() => {
      this.sweeping ??= this.sweep()
        .catch((error: unknown) => {
          this.logger.warn(`Lists of pages could not be swept: ${error instanceof Error ? error.name : 'unknown'}`);
        })
        .finally(() => {
          this.sweeping = undefined;
        });
    }, INTERVAL_MILLISECONDS);
    this.scheduler.addInterval(ListSweeper.name, interval);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeping;
  }

  async sweep(): Promise<void> {
    await this.statements.run(SWEEP, []);
  }
}
