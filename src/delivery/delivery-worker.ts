import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type EndSignal, NEVER } from '../platform/admission/request-end';
import { type Held, Slots } from '../platform/admission/slots';
import { Ambient } from '../platform/ambient';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Environment } from '../platform/config/environment';
import { RequestContext } from '../platform/request/request-context';
import { errorName, errorTrace } from '../platform/logging/error-trace';
import { type Span, Tracing, traceparentOf } from '../platform/tracing/tracing';
import { ATTEMPT_LOG_METHODS } from './attempt-log-level';
import { backoffMilliseconds } from './backoff';
import { BatchSender } from './batch-sender';
import { DeliveryFailure } from './delivery-failure';
import { type AttemptResult, type ClaimedBatch, DeliveryQueue, type Settled } from './delivery-queue';
import { LEASE_GRACE_SECONDS } from './delivery-statements';
import { WorkerIdentity } from './worker-identity';

interface Attempt {
  readonly batch: ClaimedBatch;
  readonly control: AbortController;
  /** When the attempt began, in milliseconds of a monotonic clock. */
  readonly startedAt: number;
}

/** The work of this process for one destination, from the claim until there is nothing left to send. */
interface Visit {
  /** Whether to claim once more, since events may have arrived after the latest claim. */
  isWanted: boolean;
  /** Whether the destination failed more than once in a row, or its failure was slow. */
  isFailing: boolean;
  /** Present for a healthy destination that the poll found, until it is claimed. Aborted when a commit wakes it. */
  found?: AbortController | undefined;
  attempt?: Attempt | undefined;
  /** Spans of the requests that woke the destination since its batch was claimed; undefined without traces. */
  wakers?: readonly Span[] | undefined;
  /** Spans of the requests whose events may be in the current batch. */
  causes?: readonly Span[] | undefined;
  /** Present during the pause after a failure. Aborting it ends the pause. */
  pause?: AbortController;
  ended?: Promise<void>;
}

/**
 * A destination counts as failing after a first failure that took longer than this. After a faster failure, the first
 * retry uses the slots of healthy destinations. When a thousand hanging receivers were retried in these slots, an event
 * of a healthy destination waited 2.6 s.
 */
const SLOW_MILLISECONDS = 1000;
/**
 * The share of `SVC_DELIVERY_SLOTS` for destinations that fail or that the poll found. While healthy destinations are
 * active, each of these slots also rests between its statements: a thousand destinations that begin together need
 * seconds of work, which would delay each event of a healthy destination.
 */
const LATER_PART = 1 / 4;
const REST_MILLISECONDS = 10;
/** Maximum length of a rest, so that failing destinations are always retried. */
const LONGEST_REST_MILLISECONDS = 50;
/** If healthy destinations ran no statement for this long, as after a restart, there is no rest. */
const UNDISTURBED_MILLISECONDS = 1000;
/** Maximum number of requests whose spans an attempt is linked to. */
const MAX_CAUSES = 32;
const SETTLE_PAUSE_MILLISECONDS = 500;
/** How early a worker stops repeating a statement: its lease began shortly before it received the claim. */
const LEASE_MARGIN_MILLISECONDS = 2000;
/** Maximum length of an outcome in `$status`, `$events` and the log. */
const MAX_OUTCOME_LENGTH = 300;
const CLAIM_LOST = 'The server lost its claim during the attempt';
const STOPPED = 'The server was stopped before an answer came';

/**
 * Delivers events: claims due destinations, sends a batch once, settles it, and continues with the next batch. Only the
 * number of attempts per destination is limited: to one in the whole cluster (ADR 0037). While an attempt waits for a
 * connection or a response, it holds no shared resource (`send-memory.ts`).
 */
@Injectable()
@Background({
  task: 'poll of deliveries',
  interval: ({ isDelivering, deliveryPollMilliseconds }) => (isDelivering ? deliveryPollMilliseconds : 0),
})
export class DeliveryWorker implements BackgroundTask, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryWorker.name);
  private readonly visits = new Map<number, Visit>();
  /** Slots for all settlements, and for claims of healthy destinations that a commit woke. */
  private readonly prompt: Slots;
  /** Slots for the other claims: of failing destinations, and of those that the poll found. */
  private readonly later: Slots;
  /** When a statement in a `prompt` slot last ended, by a monotonic clock. */
  private promptAt = -Infinity;
  private isClaiming = true;
  private isStopping = false;
  private isOver = false;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly sender: BatchSender,
    private readonly identity: WorkerIdentity,
    private readonly environment: Environment,
    private readonly requests: RequestContext,
    private readonly tracing: Tracing,
  ) {
    this.prompt = new Slots({ permits: environment.deliverySlots });
    this.later = new Slots({ permits: Infinity, perCaller: Math.ceil(environment.deliverySlots * LATER_PART) });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.environment.isDelivering) await this.queue.renewGeneration();
  }

  /** Stops claiming, waits `SVC_SHUTDOWN_SECONDS` for attempts, aborts the rest, and releases the heartbeat lock. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    for (const { pause } of this.visits.values()) pause?.abort();
    const timer = setTimeout(() => {
      this.isOver = true;
      this.endAttempts(STOPPED);
    }, this.environment.shutdownSeconds * 1000);
    await Promise.all([...this.visits.values()].flatMap(({ ended }) => ended ?? []));
    clearTimeout(timer);
    await this.identity.release();
  }

  /** Called after a commit: delivers the events of these destinations, after their current attempt or pause. */
  wake(destinationKeys: readonly number[]): void {
    const { span } = this.requests;
    for (const key of destinationKeys) {
      const visit = this.begin(key, { isWanted: true, isFailing: false });
      visit?.found?.abort();
      if (span !== undefined && visit !== undefined)
        visit.wakers = [...(visit.wakers ?? []), span].slice(0, MAX_CAUSES);
    }
  }

  /** Finds due destinations, among them those whose events other processes wrote or did not deliver. */
  async step(): Promise<undefined> {
    this.identity.check();
    for (const { destinationKey, failStreak } of await this.queue.due()) {
      const isFailing = failStreak > 0;
      this.begin(destinationKey, { isWanted: true, isFailing, found: isFailing ? undefined : new AbortController() });
    }
    await this.endLostAttempts();
    await this.queue.renewGeneration();
    await this.queue.raiseMark();
  }

  /** Aborts the current attempt of a destination that was changed or deleted. */
  abandon(destinationKey: number): void {
    const { attempt } = this.visits.get(destinationKey) ?? {};
    attempt?.control.abort(new DeliveryFailure('The destination was changed during the attempt'));
    this.endPause(destinationKey);
  }

  endPause(destinationKey: number): void {
    this.visits.get(destinationKey)?.pause?.abort();
    this.wake([destinationKey]);
  }

  /** Begins a visit, or lets the present one claim once more. Returns undefined if this process does not deliver. */
  private begin(key: number, visit: Visit): Visit | undefined {
    if (this.isStopping || !this.environment.isDelivering) return undefined;
    const present = this.visits.get(key);
    if (present !== undefined) {
      present.isWanted = true;
      return present;
    }
    this.visits.set(key, visit);
    // Outside the context of the request that woke the destination: delivery continues long after its response.
    visit.ended = Ambient.outside(() => this.visit(key, visit));
    return visit;
  }

  private async visit(key: number, visit: Visit): Promise<void> {
    while (visit.isWanted && !this.isStopping) {
      let batch = await this.inQueue(visit, () => this.claim(key, visit));
      while (batch !== undefined) batch = await this.attempt(visit, batch);
    }
    this.visits.delete(key);
  }

  /** Runs statements in a slot. They queue behind those of the same class: healthy and woken, found, or failing. */
  private async inQueue<T>(visit: Visit, work: () => Promise<T>): Promise<T> {
    const later = await this.takeLater(visit);
    const slot = later ?? (await this.prompt.take({ caller: '' }));
    try {
      return await work();
    } finally {
      if (later === undefined) this.promptAt = performance.now();
      slot.release();
    }
  }

  /** Takes a slot of `later` and rests. Returns undefined once a commit has woken a healthy destination. */
  private async takeLater(visit: Visit): Promise<Held | undefined> {
    if (isPrompt(visit)) return undefined;
    const { isFailing, found } = visit;
    const signal = found?.signal ?? NEVER;
    const slot = await this.later.take({ caller: isFailing ? 'failing' : 'found', signal }).catch(() => undefined);
    if (slot !== undefined) await this.rest(signal);
    return slot;
  }

  /** Waits while statements of healthy destinations run, and during the sending between two of them. */
  private async rest(signal: EndSignal): Promise<void> {
    const startedAt = performance.now();
    const idleMilliseconds = (): number => (this.prompt.inUse > 0 ? 0 : performance.now() - this.promptAt);
    if (idleMilliseconds() > UNDISTURBED_MILLISECONDS) return;
    do await delay(REST_MILLISECONDS);
    while (
      idleMilliseconds() < REST_MILLISECONDS &&
      performance.now() - startedAt < LONGEST_REST_MILLISECONDS &&
      !signal.aborted &&
      !this.isStopping
    );
  }

  private async claim(key: number, visit: Visit): Promise<ClaimedBatch | undefined> {
    visit.isWanted = false;
    if (this.isStopping) return undefined;
    try {
      const slot = await this.identity.hold(() => {
        this.endAttempts(CLAIM_LOST);
      });
      const readsTexts = isPrompt(visit);
      visit.found = undefined;
      const batch = await this.queue.claim(slot, key, readsTexts);
      this.isClaiming = true;
      return batch;
    } catch (error) {
      if (this.isClaiming) this.logger.warn(`Claiming failed and is tried again: ${errorName(error)}`);
      this.isClaiming = false;
      return undefined;
    }
  }

  /** Sends a batch once. Returns the next batch after a success, and undefined after a failure and its pause. */
  private async attempt(visit: Visit, batch: ClaimedBatch): Promise<ClaimedBatch | undefined> {
    const attempt = { batch, control: new AbortController(), startedAt: performance.now() };
    visit.attempt = attempt;
    if (this.isOver) attempt.control.abort(new DeliveryFailure(STOPPED));
    if (batch.failStreak === 0) {
      visit.causes = visit.wakers;
      visit.wakers = undefined;
    }
    const span = this.tracing.attempt(batch.destinationId, batch.eventCount, visit.causes);
    const sending = this.sender.send(batch, attempt.control, traceparentOf(span));
    const answer = await sending.catch((error: unknown) => this.failureOf(error));
    const isDelivered = typeof answer === 'string';
    this.tracing.end(span, isDelivered ? undefined : 'failed');
    const durationMilliseconds = Math.round(performance.now() - attempt.startedAt);
    const outcome = (isDelivered ? answer : answer.message).slice(0, MAX_OUTCOME_LENGTH);
    const result = { outcome, durationMilliseconds };
    this.log(batch, result, isDelivered);
    if (!isDelivered) {
      await this.fail(visit, attempt, result, answer.retryAfterSeconds);
      return undefined;
    }
    visit.isFailing = false;
    // False if this process lost the heartbeat lock of its claim: other workers may take over the destination.
    const mayGoOn = (): boolean => !this.isStopping && this.identity.slot === batch.slot;
    const settle = (): Promise<Settled> => this.queue.settle(batch, result, mayGoOn());
    const settled = await this.untilKnown(attempt, () => this.inQueue(visit, settle));
    visit.attempt = undefined;
    if (batch.failStreak > 0 && settled?.isInForce === true)
      this.logger.warn(`Destination ${batch.destinationId} delivers again: ${batch.failStreak} attempts had failed`);
    return settled?.next;
  }

  private async fail(visit: Visit, attempt: Attempt, result: AttemptResult, retryAfterSeconds: number): Promise<void> {
    const { failStreak, destinationId } = attempt.batch;
    const pauseMilliseconds = backoffMilliseconds(failStreak, retryAfterSeconds, Math.random());
    const settled = await this.untilKnown(attempt, () => this.queue.fail(attempt.batch, result, pauseMilliseconds));
    visit.attempt = undefined;
    if (settled?.isInForce === false || this.isStopping) return;
    if (failStreak === 0)
      this.logger.warn(`Destination ${destinationId} fails and is tried again until it delivers: see its $status`);
    visit.isFailing = failStreak > 0 || result.durationMilliseconds > SLOW_MILLISECONDS;
    visit.pause = new AbortController();
    // A timer may fire almost 1 ms early. A claim before the end of the pause finds nothing, and the destination waits
    // for the next poll.
    const timer = delay(pauseMilliseconds + 1, undefined, { ref: false, signal: visit.pause.signal });
    await timer.catch(() => undefined);
    visit.isWanted = true;
  }

  /** Logs the result of an attempt, if the destination has a log level. The entry has no data of the events. */
  private log(batch: ClaimedBatch, result: AttemptResult, isDelivered: boolean): void {
    const { attemptLogLevel, destinationId: destination, firstNumber, eventCount, failStreak } = batch;
    if (attemptLogLevel === null) return;
    const lastNumber = firstNumber + eventCount - 1;
    const entry = { event: 'delivery attempt', destination, firstNumber, lastNumber, attempt: failStreak + 1 };
    this.logger[ATTEMPT_LOG_METHODS[attemptLogLevel]]({ ...entry, isDelivered, ...result });
  }

  /** Repeats the statement while it fails, as during a restart of the database, until the lease is nearly over. */
  private async untilKnown(attempt: Attempt, settle: () => Promise<Settled>): Promise<Settled | undefined> {
    const leaseSeconds = attempt.batch.timeoutSeconds + LEASE_GRACE_SECONDS;
    const endsAt = attempt.startedAt + leaseSeconds * 1000 - LEASE_MARGIN_MILLISECONDS;
    for (;;) {
      try {
        const settled = await settle();
        if (!settled.isInForce)
          this.logger.log('The result of an attempt was discarded: its destination had been taken over');
        return settled;
      } catch (error) {
        if (this.isOver || performance.now() > endsAt) {
          const reason = errorName(error);
          this.logger.error(`The result of an attempt could not be stored, the batch is sent again: ${reason}`);
          return undefined;
        }
        await delay(SETTLE_PAUSE_MILLISECONDS);
      }
    }
  }

  private failureOf(error: unknown): DeliveryFailure {
    if (error instanceof DeliveryFailure) return error;
    this.logger.error('An attempt ended unexpectedly', errorTrace(error));
    return new DeliveryFailure('Internal error of the server. The operator finds it in the log.');
  }

  /** Aborts attempts whose claim is lost: another replica may have changed or deleted the destination meanwhile. */
  private async endLostAttempts(): Promise<void> {
    const { slot } = this.identity;
    if (slot === undefined || this.visits.size === 0) return;
    const before = this.attempts;
    const claims = await this.queue.claimsOf(slot);
    const lost = ({ batch }: Attempt): boolean => claims.get(batch.destinationKey) !== batch.epoch;
    this.endAttempts(CLAIM_LOST, before.filter(lost));
  }

  private get attempts(): Attempt[] {
    return [...this.visits.values()].flatMap(({ attempt }) => attempt ?? []);
  }

  private endAttempts(reason: string, attempts = this.attempts): void {
    for (const { control } of attempts) control.abort(new DeliveryFailure(reason));
  }
}

const isPrompt = ({ isFailing, found }: Visit): boolean => !isFailing && found?.signal.aborted !== false;
