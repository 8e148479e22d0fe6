import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Statements } from '../../platform/database/statements';
import { SWEEP_TRIES } from './guess-statements';

const SWEEP_MILLISECONDS = 60_000;

/** Keeps the table of tries short. Nothing depends on it being in time: an expired row counts as none. */
@Injectable()
export class GuessSweeper {
  private readonly logger = new Logger(GuessSweeper.name);

  constructor(private readonly statements: Statements) {}

  @Interval(SWEEP_MILLISECONDS)
  async sweep(): Promise<void> {
    try {
      await this.statements.run(SWEEP_TRIES, []);
    } catch (error) {
      this.logger.warn(`Forgetting old tries failed: ${error instanceof Error ? error.name : 'unknown'}`);
    }
  }
}
