import { Injectable, Logger, type NestMiddleware } from '@nestjs/common';
import { type NextFunction, type Request, type Response } from 'express';
import { isR4ResourceType } from '../fhir/definitions/definitions';
import { fatalOutcome } from '../fhir/edge/operation-outcome';
import { ResourceTypes } from '../model/resource-types';
import { Environment } from '../platform/config/environment';
import { addressPrefixOf } from '../platform/admission/address-prefix';
import { queryOf } from '../platform/http/raw-request';
import { RequestContext } from '../platform/request/request-context';
import { Clock } from '../platform/time/clock';
import { Slices } from '../platform/time/slices';
import { errorTrace } from '../platform/logging/error-trace';
import { recordOfAnswer, recordOfDenied } from './answer-audit';
import { AuditTrail } from './audit-trail';
import { holdAnswer } from './held-response';
import { type Interaction, interactionOf } from './interaction';
import { RefusalBudget } from './refusal-budget';

/**
 * Writes the AuditEvents of refusals and reads before the first byte of the response is sent; these requests have no
 * transaction that could contain the record. Every response passes this middleware, so no route can be forgotten.
 */
@Injectable()
export class AnswerAuditMiddleware implements NestMiddleware {
  private readonly logger = new Logger('Audit');
  private readonly budget = new RefusalBudget();

  constructor(
    private readonly environment: Environment,
    private readonly requests: RequestContext,
    private readonly types: ResourceTypes,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly slices: Slices,
  ) {}

  use(request: Request, response: Response, next: NextFunction): void {
    if (this.environment.audit !== 'off') {
      const isRecorded = (): boolean => this.isRecorded(request, response);
      const record = (): Promise<void> => this.record(request, response);
      holdAnswer(response, isRecorded, record, (error) => {
        this.refuse(response, error);
      });
    }
    next();
  }

  /**
   * Whether the response is recorded. A create, update, patch or delete whose change was recorded needs no second
   * record. An operation, a Bundle or an RPC call may also have read something, so it is always recorded.
   */
  private isRecorded(request: Request, { statusCode }: Response): boolean {
    if (isRefusal(request, statusCode)) return this.requests.caller !== undefined || this.isWithinBudget(request);
    if (this.requests.denied.length > 0) return true;
    if (this.environment.audit !== 'all' || this.requests.caller === undefined) return false;
    return statusCode >= 400 || !this.trail.isRecorded || this.interactionOf(request).action === 'E';
  }

  private interactionOf(request: Request): Interaction {
    return interactionOf(request, (text) => isR4ResourceType(text) || this.types.find(text) !== undefined);
  }

  private isWithinBudget({ ip = '' }: Request): boolean {
    const { isGranted, isLast } = this.budget.take(addressPrefixOf(ip), this.clock.now());
    if (isLast)
      this.logger.warn('Refusals of one address are not recorded for the rest of this minute: there are too many');
    return isGranted;
  }

  private async record(request: Request, response: Response): Promise<void> {
    const isWhole = isRefusal(request, response.statusCode) || this.environment.audit === 'all';
    if (response.statusCode !== 403)
      for (const part of this.requests.denied) await this.trail.record(recordOfDenied(part));
    if (!isWhole) return;
    const { calls } = this.requests;
    const record = recordOfAnswer(this.interactionOf(request), calls, response, this.environment.baseUrl);
    await this.trail.record(await this.slices.run(record));
  }

  /** Sends 503 instead of the response if the AuditEvent could not be written. */
  private refuse(response: Response, error: unknown): void {
    this.logger.error('An answer was withheld: its AuditEvent could not be written', errorTrace(error));
    for (const name of response.getHeaderNames()) if (!ID_HEADERS.includes(name)) response.removeHeader(name);
    response.statusCode = 503;
    response.setHeader('Retry-After', '1');
    response.setHeader('Content-Type', 'application/fhir+json; charset=utf-8');
    const outcome = fatalOutcome(
      'transient',
      'audit-unavailable',
      'The request could not be recorded, so it is not answered. Try again.',
    );
    response.end(JSON.stringify(outcome));
  }
}

/** Headers that stay when 503 replaces a response. */
const ID_HEADERS = ['x-request-id', 'x-correlation-id'];

/** Whether the request was denied or throttled, or had wrong credentials. One without credentials does not count. */
function isRefusal(request: Request, status: number): boolean {
  const { headers, path } = request;
  if (status === 403 || status === 429) return true;
  if (path.startsWith('/auth/')) return status >= 400 && status < 500 && status !== 405;
  return status === 401 && (headers.authorization !== undefined || queryOf(request).has('link-token'));
}
