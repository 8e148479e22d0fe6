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

/** The state of a request from the network, for all work that answers it. */
interface Wire {
  readonly origin: Request;
  readonly ticket: RequestTicket;
  /** Ties it to requests of other systems, for log and audit. */
  readonly correlationId: string | undefined;
}

/** State that a request and its entries share. */
interface Whole {
  callerChanges: number;
  span?: Span;
}

/** Facts of a request for its log line. They change until it ends. */
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
  readonly denied: DeniedPart[];
}

/** A part of a larger request (an entry of a Bundle, a call of several) that no policy grants. */
export interface DeniedPart {
  readonly operationId: string;
  readonly type?: string;
  readonly id?: string;
}

/** State of the request that is being answered; empty in background work. */
@Injectable()
export class RequestContext {
  private readonly storage = new Ambient<RequestState>();

  /**
   * Runs `work` as a request; one inside of another, such as an entry of a batch, keeps what the outer one came with.
   */
  run<T>(requestId: string, work: () => T, wire?: Wire): T {
    const outer = this.storage.value;
    const { origin, ticket, correlationId } = outer ?? wire ?? {};
    const { topicCorrelationId, whole = { callerChanges: 0 } } = outer ?? {};
    return this.storage.run({ requestId, whole, origin, ticket, correlationId, topicCorrelationId, denied: [] }, work);
  }

  /** Stands for the present request: an entry of a batch is one by itself. Undefined in background work. */
  get present(): PresentRequest | undefined {
    return this.storage.value;
  }

  /** How often the request, its entries included, has changed what decides who calls, and what he may do. */
  get callerChanges(): number {
    return this.storage.value?.whole.callerChanges ?? 0;
  }

  /** Called before the change is committed: entries that follow read their caller again. */
  noteCallerChange(): void {
    const whole = this.storage.value?.whole;
    if (whole !== undefined) whole.callerChanges++;
  }

  /** Runs `work` apart from the request, which may be answered before it ends. */
  outside<T>(work: () => T): T {
    return this.storage.run(undefined, work);
  }

  /** Caller, end and memory of the request; one of background work never ends. */
  get ticket(): Ticket {
    return this.storage.value?.ticket ?? BACKGROUND;
  }

  /** Of the request as a whole, where there are traces. */
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
   * Delivered with the events of this request (`SVC_TOPIC_CORRELATION_HEADER`). Any text of the caller: only their
   * receivers may see it.
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

  /** The epochs that were read with the caller's Session, at the beginning of the request. */
  get epochs(): Epochs | undefined {
    return this.storage.value?.epochs;
  }

  keepEpochs(epochs: Epochs): void {
    this.note({ epochs });
  }

  /** A transaction starts over, perhaps because the epochs were outdated: they are read again. */
  startOver(): void {
    this.note({ epochs: undefined, isStartedOver: true });
    this.noteCallerChange(); // what it changed is undone
  }

  /** Whether a transaction of this request has started over. */
  get isStartedOver(): boolean {
    return this.storage.value?.isStartedOver ?? false;
  }

  /** The request that came by the wire. */
  get origin(): Request | undefined {
    return this.storage.value?.origin;
  }

  /**
   * The rows that the policies of this request grant; `all` in background work and on routes without policies. Routes
   * that keep to it say so with `@EnforcesRows()`.
   */
  get rows(): GrantedRows {
    return this.storage.value?.rows ?? 'all';
  }

  grant(rows: GrantedRows): void {
    this.note({ rows });
  }

  /**
   * For code that cannot keep to row criteria: refuses callers who are limited by them.
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
   * The claimed User or Client, which exists, before its credentials are checked: audit records name it in a refusal.
   */
  claim(claimed: Partial<Caller>): void {
    this.note({ claimed: { ...this.claimed, ...claimed } });
  }

  get claimed(): Partial<Caller> | undefined {
    return this.storage.value?.claimed;
  }

  /** Notes a refusal that the status of the answer does not tell. */
  noteDenied(part: DeniedPart): void {
    this.storage.value?.denied.push(part);
  }

  get denied(): readonly DeniedPart[] {
    return this.storage.value?.denied ?? [];
  }

  /** The isolation level that the request asks for; undefined where it asks for none. */
  get isolationLevel(): IsolationLevel | undefined {
    return this.storage.value?.isolationLevel;
  }

  isolate(isolationLevel: IsolationLevel): void {
    this.note({ isolationLevel });
  }

  /** Background work has no state to note anything in. */
  private note(changes: Partial<RequestState>): void {
    const state = this.storage.value;
    if (state !== undefined) Object.assign(state, changes);
  }
}

/** The refusal of work that does not check each row, for callers with row criteria. */
export const limitedToRows = (): ServiceError =>
  new ServiceError(
    'forbidden',
    'The policies that grant this request limit it to some resources, which cannot be done here.',
    { code: 'rows-limited' },
  );
