import { Injectable } from '@nestjs/common';
import { KeptOn } from '../../platform/kept-on';
import { ServiceError } from '../../platform/errors/service-error';
import { Counter } from '../../platform/metrics/counter';
import { type MetricFamily } from '../../platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../../platform/metrics/metric-source';
import { RequestContext } from '../../platform/request/request-context';
import { type Decision } from '../decision/access-decision';
import { type LazyRequest } from '../request/lazy-request';
import { DenialLog } from './denial-log';
import { type DenialSummary, noteOn, policySummariesOf, requestSummaryOf } from './denial-summary';

/**
 * Makes the error of a denied request. The error contains the id under which the denial is stored; `GET
 * /auth/decisions/{id}` returns the denial to authorized callers.
 */
@Injectable()
@MetricsFrom({ source: 'denials', path: '/metrics' })
export class Denials implements MetricSource {
  /** Ids of stored denials, by request and summary: entries of one Bundle with the same denial share one id. */
  private readonly alike = new KeptOn<object, Map<string, Promise<string>>>();

  private readonly denials = new Counter(
    'svc_access_denials_total',
    'Denied requests, and denied parts of requests, by reason: no policy grants, or its limit to rows forbids.',
    [{ reason: 'policy' }, { reason: 'rows' }],
  );

  constructor(
    private readonly log: DenialLog,
    private readonly requests: RequestContext,
  ) {}

  async refusalOf(request: LazyRequest, { rows, tried }: Decision): Promise<ServiceError> {
    const limited = rows !== undefined;
    this.denials.add({ reason: limited ? 'rows' : 'policy' });
    const reasons: Omit<DenialSummary, 'request'> = limited ? { policies: [], limited } : policySummariesOf(tried);
    const summary = await requestSummaryOf(request);
    const note = reasons.policies.length === 0 ? { note: noteOn(summary, limited) } : {};
    const id = await this.idOf({ request: summary, ...reasons, ...note }, request);
    const message = limited
      ? 'The policies that grant this request limit it to some resources, and this route cannot apply criteria.'
      : 'No AccessPolicy grants this request.';
    return new ServiceError('policy-missing', `${message} Why: GET /auth/decisions/${id}`);
  }

  read(): readonly MetricFamily[] {
    return [this.denials.read()];
  }

  private idOf(summary: DenialSummary, request: LazyRequest): Promise<string> {
    const asked = this.requests.origin ?? request;
    const known = this.alike.get(asked) ?? new Map<string, Promise<string>>();
    this.alike.set(asked, known);
    const key = JSON.stringify(summary);
    const id = known.get(key) ?? this.log.add(summary);
    known.set(key, id);
    return id;
  }
}
