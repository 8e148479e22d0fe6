import { Injectable } from '@nestjs/common';
import { permitsOf, Slots } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';
import { RequestContext } from '../../platform/request/request-context';

const LONGEST_WAIT_MILLISECONDS = 5_000;

/**
 * While other callers wait for a slot, a caller with several streams loses a stream whose socket has been full for this
 * long.
 */
const PATIENCE_MILLISECONDS = 1_000;
const LOOK_MILLISECONDS = 250;

/** A request that reads a large compartment. It holds a slot and, while entries are read, a database connection. */
export class Reading {
  isCut = false;
  private fullSince = Infinity;

  constructor(
    readonly caller: string,
    private readonly disconnect: () => void,
  ) {}

  /** Waits until the socket has accepted a text. */
  async sending(written: Promise<void>): Promise<void> {
    this.fullSince = performance.now();
    await written;
    this.fullSince = Infinity;
  }

  get fullMilliseconds(): number {
    return performance.now() - this.fullSince;
  }

  cut(): void {
    this.isCut = true;
    this.disconnect();
  }
}

/** Slots for reading large compartments. */
@Injectable()
export class CompartmentSlots {
  private readonly limits: ReturnType<typeof permitsOf>;
  private readonly slots: Slots;
  private readonly readings = new Set<Reading>();

  constructor(
    environment: Environment,
    private readonly requests: RequestContext,
  ) {
    this.limits = permitsOf(environment.databasePoolSize, 1 / 2, 1 / 4);
    this.slots = new Slots({
      ...this.limits,
      longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
      busyMessage: 'Too many large patient compartments are being read. Try again.',
      retryAfterSeconds: 2,
    });
  }

  /** @throws ServiceError 'busy' if no slot became free */
  async run<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    const { ticket, origin } = this.requests;
    const looking = setInterval(() => {
      this.cutSlowest(ticket.caller);
    }, LOOK_MILLISECONDS);
    const slot = await this.slots.take(ticket).finally(() => {
      clearInterval(looking);
    });
    const reading = new Reading(ticket.caller, () => origin?.destroy());
    this.readings.add(reading);
    try {
      return await work(reading);
    } finally {
      this.readings.delete(reading);
      slot.release();
    }
  }

  /**
   * Frees a slot for a waiting caller by ending the slowest stream of another caller. It does nothing if the caller
   * waits only because of its own limit.
   */
  private cutSlowest(caller: string): void {
    const live = [...this.readings].filter(({ isCut }) => !isCut);
    const readingsOf = (name: string): number => live.filter((one) => one.caller === name).length;
    const { permits, perCaller } = this.limits;
    if (live.length < permits || readingsOf(caller) >= perCaller) return;
    const [slowest] = live
      .filter((one) => one.fullMilliseconds >= PATIENCE_MILLISECONDS && one.caller !== caller)
      .filter((one) => readingsOf(one.caller) > 1)
      .sort((a, b) => b.fullMilliseconds - a.fullMilliseconds);
    slowest?.cut();
  }
}
