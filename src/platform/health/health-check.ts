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

/**
 * Reads whether the database is read-only, like a standby or a primary that was demoted. Then a load balancer must send
 * writes elsewhere.
 */
const PING: Statement = {
  name: 'health-ping',
  text: `select current_setting('transaction_read_only')::boolean as is_read_only`,
};

/** Time limit of the check. If it takes longer, the response says that the database is slow, which is a problem too. */
const PATIENCE_MILLISECONDS = 1_000;

@Injectable()
export class HealthCheck {
  constructor(private readonly statements: Statements) {}

  async run(): Promise<Health> {
    const begin = performance.now();
    const found = await Promise.race([this.ping(), delay(PATIENCE_MILLISECONDS, 'slow' as const, { ref: false })]);
    const [status, description] = FINDINGS[found];
    return healthOf(status, description, {
      'db:responseTime': [{ status, observedValue: Math.round(performance.now() - begin), observedUnit: 'ms' }],
    });
  }

  private async ping(): Promise<'ready' | 'read only' | 'lost'> {
    try {
      const { is_read_only: isReadOnly } = (await this.statements.runOne<{ is_read_only: boolean }>(PING, [])) ?? {};
      return isReadOnly === true ? 'read only' : 'ready';
    } catch {
      return 'lost';
    }
  }
}

const FINDINGS = {
  ready: ['pass', 'The server answers.'],
  slow: ['warn', 'The server answers; the database is slow.'],
  'read only': ['fail', 'The database takes no writes: it is a standby.'],
  lost: ['fail', 'The database cannot be reached.'],
} as const satisfies Readonly<Record<string, readonly [HealthStatus, string]>>;

export const healthOf = (status: HealthStatus, description: string, checks: Health['checks'] = {}): Health => ({
  status,
  description,
  about: { version: softwareVersion() },
  checks: {
    uptime: [{ observedValue: Math.round(process.uptime()), observedUnit: 's' }],
    ...memoryCheck(),
    ...checks,
  },
});

/**
 * Node reads the resident memory from a file, which fails while no file descriptor is free (EMFILE). A process that
 * serves its connections is healthy then: with 500 an orchestrator would end it.
 */
function memoryCheck(): Health['checks'] {
  try {
    return { 'memory:utilization': [{ observedValue: process.memoryUsage.rss(), observedUnit: 'bytes' }] };
  } catch {
    return {};
  }
}
