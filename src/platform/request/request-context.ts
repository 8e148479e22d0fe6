import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { BACKGROUND, type RequestTicket, type Ticket } from '../admission/ticket';
import { Ambient } from '../ambient';
import { type Epochs } from './epochs';
import { type IsolationLevel } from './isolation-level';
import { ServiceError } from '../errors/service-error';
import { type Span } from '../tracing/tracing';
import { type Caller } from './caller';
import { type GrantedRows } from './granted-rows';

/** The network state of a request, for all work that belongs to it. */
interface Wire {
  readonly origin: Request;
  readonly ticket: RequestTicket;
  /** Links the request, in log and audit, to requests of other systems. */
  readonly correlationId: string | undefined;
}

/** The state that a request and its entries share. */
interface Whole {
  callerChanges: number;
  span?: Span;
}

/** Facts for the log line, which may change until the request ends. */
export interface PresentRequest {
  readonly requestId: string;
  readonly origin: Request | undefined;
  readonly correlationId: string | undefined;
  readonly caller?: Caller;
  readonly claimed?: Partial<Caller>;
}

interface RequestState extends PresentRequest {
  readonly whole: Whole;
  readonly ticket: RequestTicket | undefined;
  topicCorrelationId: string | undefined;
  caller?: Caller;
  epochs?: Epochs | undefined;
  isStartedOver?: boolean;
  isolationLevel?: IsolationLevel;
  rows?: GrantedRows;
  claimed?: Partial<Caller>;
  readonly denied: RequestPart[];
  calls?: RequestPart[];
}

/** A part of a request (a Bundle entry, an RPC call), for the audit record. */
export interface RequestPart {
  readonly operationId: string;
  readonly type?: string;
  readonly id?: string;
  readonly rpc?: { readonly method: string };
}

/** The state of the current request. Background work has none. */
@Injectable()
export class RequestContext {
  private readonly storage = new Ambient<RequestState>();

  /**
   * Runs `work` as a request. An inner request, such as an entry of a batch, has the network state of the outer
   * request.
   */
  run<T>(requestId: string, work: () => T, wire?: Wire): T {
    const outer = this.storage.value;
    const { origin, ticket, correlationId } = outer ?? wire ?? {};
    const { topicCorrelationId, whole = { callerChanges: 0 } } = outer ?? {};
    return this.storage.run({ requestId, whole, origin, ticket, correlationId, topicCorrelationId, denied: [] }, work);
  }

  /** Identifies the current request, or the entry of a batch; undefined in background work. */
  get present(): PresentRequest | undefined {
    return this.storage.value;
  }

  /** How often the request and its entries have changed the caller or the caller's rights. */
  get callerChanges(): number {
    return this.storage.value?.whole.callerChanges ?? 0;
  }

  /**
   * Records that the caller or the caller's rights change, so that later entries read their caller again. Called before
   * the change is committed.
   */
  noteCallerChange(): void {
    const whole = this.storage.value?.whole;
    if (whole !== undefined) whole.callerChanges++;
  }

  /** The caller, end signal and memory of the request. In background work it is a ticket that never ends. */
  get ticket(): Ticket {
    return this.storage.value?.ticket ?? BACKGROUND;
  }

  /** The span of the whole request, if traces are on. */
  get span(): Span | undefined {
    return this.storage.value?.whole.span;
  }

  trace(span: Span): void {
    const whole = this.storage.value?.whole;
    if (whole !== undefined) whole.span = span;
  }

  get requestId(): string | undefined {
    return this.storage.value?.requestId;
  }

  get correlationId(): string | undefined {
    return this.storage.value?.correlationId;
  }

  /**
   * The value that is delivered with the events of this request (`SVC_TOPIC_CORRELATION_HEADER`). It may be any text of
   * the caller, so only the receivers of these events may see it.
   */
  get topicCorrelationId(): string | undefined {
    return this.storage.value?.topicCorrelationId;
  }

  correlateEvents(topicCorrelationId: string): void {
    this.note({ topicCorrelationId });
  }

  get caller(): Caller | undefined {
    return this.storage.value?.caller;
  }

  /** The epochs at the beginning of the request, read with the caller's Session. */
  get epochs(): Epochs | undefined {
    return this.storage.value?.epochs;
  }

  keepEpochs(epochs: Epochs): void {
    this.note({ epochs });
  }

  /** Drops the caller and the epochs, so that they are read again: another request may have changed them. */
  forgetCaller(): void {
    this.note({ epochs: undefined });
    this.noteCallerChange();
  }

  /** Called when a transaction restarts, perhaps because the epochs were outdated. */
  startOver(): void {
    this.note({ isStartedOver: true });
    this.forgetCaller(); // a change of the caller is rolled back too
  }

  /** Whether a transaction has restarted. */
  get isStartedOver(): boolean {
    return this.storage.value?.isStartedOver ?? false;
  }

  /** The request from the network; undefined in background work. */
  get origin(): Request | undefined {
    return this.storage.value?.origin;
  }

  /**
   * The rows that the policies grant to this request; `all` in background work and on routes without policies. Routes
   * that enforce the granted rows declare `@EnforcesRows()`.
   */
  get rows(): GrantedRows {
    return this.storage.value?.rows ?? 'all';
  }

  grant(rows: GrantedRows): void {
    this.note({ rows });
  }

  /**
   * Refuses callers who are limited by row criteria. Called by code that cannot enforce such criteria.
   * @throws ServiceError 'forbidden'
   */
  assertAllRows(): void {
    if (this.rows !== 'all') throw limitedToRows();
  }

  identify(caller: Caller, epochs: Epochs): void {
    this.note({ caller, epochs });
    this.storage.value?.ticket?.identify(caller.userId, caller.clientId);
  }

  /**
   * Records the existing User or Client that the caller claims to be, before the credentials are checked. If the
   * request is refused, the audit record names it.
   */
  claim(claimed: Partial<Caller>): void {
    this.note({ claimed: { ...this.claimed, ...claimed } });
  }

  get claimed(): Partial<Caller> | undefined {
    return this.storage.value?.claimed;
  }

  /** Records that a part of the request was refused, which the status of the response does not show. */
  noteDenied(part: RequestPart): void {
    this.storage.value?.denied.push(part);
  }

  get denied(): readonly RequestPart[] {
    return this.storage.value?.denied ?? [];
  }

  /** Records an RPC call of the request, granted or not: method and target are in the body, not in the route. */
  noteCall(call: RequestPart): void {
    const state = this.storage.value;
    if (state !== undefined) (state.calls ??= []).push(call);
  }

  get calls(): readonly RequestPart[] {
    return this.storage.value?.calls ?? [];
  }

  /** The isolation level that the request asks for; undefined if it asks for none. */
  get isolationLevel(): IsolationLevel | undefined {
    return this.storage.value?.isolationLevel;
  }

  isolate(isolationLevel: IsolationLevel): void {
    this.note({ isolationLevel });
  }

  /** Changes the state of the request. In background work there is no state, so nothing happens. */
  private note(changes: Partial<RequestState>): void {
    const state = this.storage.value;
    if (state !== undefined) Object.assign(state, changes);
  }
}

/** The error for callers who are limited by row criteria, thrown by code that does not check each row. */
export const limitedToRows = (): ServiceError =>
  new ServiceError(
    'rows-limited',
    'The policies that grant this request limit it to some resources, and this route cannot apply criteria.',
  );
