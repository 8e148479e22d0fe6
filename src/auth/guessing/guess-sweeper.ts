import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../platform/background/background';
import { Statements } from '../../platform/database/statements';
import { sweep, sweepOf } from '../../platform/database/sweep';

const SWEEP = sweepOf('guess-sweep-tries', 'credential_failure', 'key');

/** Deletes expired counts of failed logins. A delay is harmless: an expired row counts as no row. */
@Injectable()
@Background({ task: 'sweep of failed logins', interval: () => 60_000 })
export class GuessSweeper implements BackgroundTask {
  constructor(private readonly statements: Statements) {}

  step(): Promise<number | undefined> {
    return sweep(this.statements, SWEEP);
  }
}
