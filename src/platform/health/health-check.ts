import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Statement } from '../database/statement';
import { Statements } from '../database/statements';
import { softwareVersion } from '../software-version';

export type HealthStatus = 'pass' | 'warn' | 'fail';

export interface Health {
  readonly status: HealthStatus;
  readonly description: string;
  readonly about: { readonly version: string };
  readonly checks: Readonly<
    Record<
      string,
      readonly { readonly status?: HealthStatus; readonly observedValue: number; readonly observedUnit: string }[]
    >
  >;
}

const PING: Statement = { name: 'health-ping', text: 'select 1 as one' };

/** A probe that waits longer than this is itself a problem; the answer then says that the database is slow. */
const PATIENCE_MILLISECONDS = 1_000;

@Injectable()
export class HealthCheck {
  constructor(private readonly statements: Statements) {}

  async run(): Promise<Health> {
    const begin = performance.now();
    const status = await Promise.race([this.ping(), delay(PATIENCE_MILLISECONDS, 'warn' as const, { ref: false })]);
    return {
      status,
      description: DESCRIPTIONS[status],
      about: { version: softwareVersion() },
      checks: {
        uptime: [{ observedValue: Math.round(process.uptime()), observedUnit: 's' }],
        'memory:utilization': [{ observedValue: process.memoryUsage.rss(), observedUnit: 'bytes' }],
        'db:responseTime': [{ status, observedValue: Math.round(performance.now() - begin), observedUnit: 'ms' }],
      },
    };
  }

  private async ping(): Promise<HealthStatus> {
    try {
      await this.statements.run(PING, []);
      return 'pass';
    } catch {
      return 'fail';
    }
  }
}

const DESCRIPTIONS: Readonly<Record<HealthStatus, string>> = {
  pass: 'The server answers.',
  warn: 'The server answers; the database is slow.',
  fail: 'The database cannot be reached.',
};
