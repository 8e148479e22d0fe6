import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Environment } from '../platform/config/environment';
import { RequestContext } from '../platform/http/request-context';
import { errorTrace } from '../platform/logging/error-trace';
import { recordAttempt } from './attempt-record';
import { backoffMilliseconds } from './backoff';
import { BatchSender } from './batch-sender';
import { DeliveryFailure } from './delivery-failure';
import { DeliveryGeneration } from './delivery-generation';
import { type ClaimedBatch, DeliveryQueue, type Settled } from './delivery-queue';
import { LEASE_GRACE_SECONDS } from './delivery-statements';
import { type Lanes, type RunningAttempt, freeLanes } from './lanes';
import { WorkerIdentity } from './worker-identity';

interface Attempt extends RunningAttempt {
  readonly batch: ClaimedBatch;
  readonly control: AbortController;
}

/** One destination that this process holds, with what is being sent to it now. */
interface Delivery {
  attempt: Attempt;
}

const SWEEP_INTERVAL_MILLISECONDS = 60_000;
const SETTLE_PAUSE_MILLISECONDS = 500;
/** The lease begins a moment before the worker hears of it. */
const LEASE_MARGIN_MILLISECONDS = 2000;
const CLAIM_LOST = 'The server lost its claim during the attempt';
const STOPPED = 'The server was stopped before an answer came';

/**
 * Delivers: claims due batches, sends each once, settles, and goes on with the next. One batch of a destination at a time,
 * in the whole cluster; as many destinations at once as there are slots (`lanes.ts`).
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryWorker.name);
  /** What this process sends now, with the promises that end when it is settled. */
  private readonly deliveries = new Map<Delivery, Promise<void>>();
  /** Destinations whose latest attempt failed here, until their pause is over: nothing new makes them due earlier. */
  private readonly pausing = new Set<number>();
  private claiming: Promise<void> | undefined;
  private isWanted = false;
  private isStopping = false;
  private isOver = false;
  private sweptAt = -Infinity;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly generation: DeliveryGeneration,
    private readonly sender: BatchSender,
    private readonly identity: WorkerIdentity,
    private readonly environment: Environment,
    private readonly scheduler: SchedulerRegistry,
    private readonly requests: RequestContext,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.environment.isDelivering) return;
    await this.generation.renew();
    await this.generation.warnWhereHeld();
    // `@Interval` takes no setting, the registry does; ScheduleModule clears its intervals when the application closes.
    const poll = setInterval(() => void this.poll(), this.environment.deliveryPollMilliseconds);
    this.scheduler.addInterval(DeliveryWorker.name, poll);
    this.wake();
  }

  /** Stops claiming, lets attempts end within the time of `SVC_SHUTDOWN_SECONDS`, and gives the slot back. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.claiming;
    const timer = setTimeout(() => {
      this.isOver = true;
      this.endAttempts(STOPPED, () => true);
    }, this.environment.shutdownSeconds * 1000);
    await Promise.all(this.deliveries.values());
    clearTimeout(timer);
    await this.identity.release();
  }

  /**
   * Looks for something to send. `destinationKeys` tell where something is new: what is being sent to is looked at
   * again afterwards anyway, and what failed here when its pause is over.
   */
  wake(destinationKeys?: readonly number[]): void {
    if (!this.environment.isDelivering) return;
    if (this.isStopping || destinationKeys?.every((key) => this.isSendingTo(key) || this.pausing.has(key)) === true)
      return;
    this.isWanted = true;
    // A request that wakes it has no part in what is sent, which goes on long after its answer.
    this.claiming ??= this.requests
      .outside(() => this.claimAll())
      .finally(() => {
        this.claiming = undefined;
        if (this.isWanted && this.hasFreeLane) this.wake();
      });
  }

  /** Ends what is being sent to a destination: its settings changed, or it is gone. */
  abandon(destinationKey: number): void {
    this.pausing.delete(destinationKey);
    this.endAttempts(
      'The destination was changed during the attempt',
      ({ batch }) => batch.destinationKey === destinationKey,
    );
    this.wake();
  }

  private get attempts(): Attempt[] {
    return [...this.deliveries.keys()].map(({ attempt }) => attempt);
  }

  private get lanes(): Lanes {
    return freeLanes(this.environment.deliverySlots, this.attempts, performance.now());
  }

  private get hasFreeLane(): boolean {
    const { healthy, suspect } = this.lanes;
    return healthy || suspect;
  }

  private isSendingTo(destinationKey: number): boolean {
    return this.attempts.some(({ batch }) => batch.destinationKey === destinationKey);
  }

  private async claimAll(): Promise<void> {
    this.isWanted = false;
    try {
      const slot = await this.identity.hold(() => {
        this.endAttempts(CLAIM_LOST, () => true);
      });
      while (!this.isStopping && this.hasFreeLane) {
        const batch = await this.queue.claim(slot, this.lanes);
        if (batch === undefined) return;
        this.begin(batch);
      }
    } catch (error) {
      this.logger.warn(`Claiming failed and is tried again: ${nameOf(error)}`);
    }
  }

  private begin(batch: ClaimedBatch): void {
    const delivery: Delivery = { attempt: attemptOf(batch) };
    const ended = this.deliver(delivery).then((pauseMilliseconds) => {
      this.deliveries.delete(delivery);
      const { destinationKey } = batch;
      if (pauseMilliseconds > 0) this.pausing.add(destinationKey);
      setTimeout(() => {
        this.pausing.delete(destinationKey);
        this.wake();
      }, pauseMilliseconds).unref();
    });
    this.deliveries.set(delivery, ended);
  }

  /** Sends batch after batch, as long as nobody else waits for the slot. Returns how long to pause until the next attempt. */
  private async deliver(delivery: Delivery): Promise<number> {
    for (;;) {
      const { attempt } = delivery;
      const { batch, control } = attempt;
      if (this.isOver) control.abort(new DeliveryFailure(STOPPED));
      let outcome: string;
      try {
        outcome = await this.sender.send(batch, control);
      } catch (error) {
        const { message, retryAfterSeconds } = this.failureOf(error);
        const pauseMilliseconds = backoffMilliseconds(batch.failStreak, retryAfterSeconds, Math.random());
        const result = { durationMilliseconds: durationOf(attempt), outcome: message };
        recordAttempt(this.logger, batch, result, false);
        await this.untilKnown(attempt, () => this.queue.fail(batch, result, pauseMilliseconds));
        return pauseMilliseconds;
      }
      const result = { durationMilliseconds: durationOf(attempt), outcome };
      recordAttempt(this.logger, batch, result, true);
      const takesNext = !this.isStopping && this.lanes[batch.isSuspect ? 'suspect' : 'healthy'];
      const settled = await this.untilKnown(attempt, () => this.queue.settle(batch, result, takesNext));
      if (settled?.next === undefined) return 0;
      delivery.attempt = attemptOf(settled.next);
    }
  }

  /** Repeats through a restart of the database, as long as nobody else can have taken the batch over. */
  private async untilKnown(
    { batch, startedAt }: Attempt,
    settle: () => Promise<Settled>,
  ): Promise<Settled | undefined> {
    const endsAt = startedAt + (batch.timeoutSeconds + LEASE_GRACE_SECONDS) * 1000 - LEASE_MARGIN_MILLISECONDS;
    for (;;) {
      try {
        const settled = await settle();
        if (!settled.isInForce) {
          this.logger.log('The result of an attempt was discarded: its destination had been taken over');
        }
        return settled;
      } catch (error) {
        if (performance.now() > endsAt) {
          this.logger.error(`The result of an attempt could not be stored, the batch is sent again: ${nameOf(error)}`);
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

  private async poll(): Promise<void> {
    this.wake();
    try {
      await this.endLostAttempts();
      await this.generation.renew();
      await this.queue.raiseMark();
      if (performance.now() - this.sweptAt < SWEEP_INTERVAL_MILLISECONDS) return;
      this.sweptAt = performance.now();
      await this.queue.sweep();
    } catch (error) {
      this.logger.warn(`Looking after deliveries failed and is tried again: ${nameOf(error)}`);
    }
  }

  /** Another replica may have changed or deleted a destination while this one sends to it. */
  private async endLostAttempts(): Promise<void> {
    const { slot } = this.identity;
    if (slot === undefined || this.deliveries.size === 0) return;
    const before = new Set(this.attempts);
    const claims = await this.queue.claimsOf(slot);
    this.endAttempts(
      CLAIM_LOST,
      (attempt) => before.has(attempt) && claims.get(attempt.batch.destinationKey) !== attempt.batch.epoch,
    );
  }

  private endAttempts(reason: string, isOver: (attempt: Attempt) => boolean): void {
    for (const attempt of this.attempts) {
      if (isOver(attempt)) attempt.control.abort(new DeliveryFailure(reason));
    }
  }
}

const attemptOf = (batch: ClaimedBatch): Attempt => ({
  batch,
  isSuspect: batch.isSuspect,
  bytes: batch.bytes,
  control: new AbortController(),
  startedAt: performance.now(),
});

const durationOf = ({ startedAt }: Attempt): number => Math.round(performance.now() - startedAt);

/** Errors of the database driver can quote values: only their name and code are logged. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}
