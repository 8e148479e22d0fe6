import { Injectable } from '@nestjs/common';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { Counter } from '../../platform/metrics/counter';
import { type MetricFamily, single } from '../../platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../../platform/metrics/metric-source';
import { HashSlots } from '../hashing/hash-slots';
import { OAuthError } from '../oauth/oauth-error';

/** Metrics of token requests by grant and result, and of the logins that wait for a hash thread. */
@Injectable()
@MetricsFrom({ source: 'logins', path: '/metrics' })
export class LoginMetrics implements MetricSource {
  private readonly logins = new Counter(
    'svc_logins_total',
    'Token requests by grant and result: ok, the code of RFC 6749, or why they were not judged.',
  );

  constructor(private readonly slots: HashSlots) {}

  /** @param grant a registered grant type */
  async count<T>(grant: string, exchange: () => Promise<T>): Promise<T> {
    try {
      const issued = await exchange();
      this.logins.add({ grant, result: 'ok' });
      return issued;
    } catch (error) {
      const result = error instanceof OAuthError ? error.code : (serviceErrorOf(error)?.kind ?? 'error');
      this.logins.add({ grant, result });
      throw error;
    }
  }

  read(): readonly MetricFamily[] {
    const waiting = single('gauge', 'svc_logins_waiting', 'Logins that wait for a hash thread.', this.slots.waiting);
    return [this.logins.read(), waiting];
  }
}
