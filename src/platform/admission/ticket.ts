import { type Request, type Response } from 'express';
import { addressPrefixOf } from './address-prefix';
import { type MemoryBudget } from './memory-budget';
import { type EndSignal, NEVER, RequestEnd } from './request-end';
import { type Held } from './slots';

/** One request under way: its caller, until when it is wanted, and what it holds. `RequestContext.ticket`. */
export interface Ticket {
  /** Callers take turns by it: the User or Client, or the address prefix of a request without credentials. */
  readonly caller: string;
  /**
   * Aborted when the connection closes before the answer is sent; the reason is a ServiceError. All that works for the
   * request ends then: statements, Bundles, dry runs, long loops.
   */
  readonly signal: EndSignal;
  /**
   * Counts bytes in memory for this request: collected answers, output that the socket has not taken. The end of the
   * request releases the rest.
   * @throws ServiceError 'busy' when the budget of the process, or the share of the caller, is full
   */
  hold(bytes: number): Held;
  /**
   * As {@link hold}, but waits for room, in turns by caller. @throws ServiceError 'busy' after the longest wait, or
   * when the client leaves
   */
  holdInTurn(bytes: number): Promise<Held>;
}

const NOTHING: Held = { shrinkTo: () => undefined, release: () => undefined };

/** Background work: no client waits for it, and those who run it bound its memory. */
export const BACKGROUND: Ticket = {
  caller: '',
  signal: NEVER,
  hold: () => NOTHING,
  holdInTurn: () => Promise.resolve(NOTHING),
};

/** The ticket of a request that came by the wire. A plain read pays for nothing that it does not use. */
export class RequestTicket implements Ticket {
  private identified: string | undefined;
  private end: RequestEnd | undefined;
  private held: Set<Held> | undefined;

  constructor(
    private readonly request: Request,
    private readonly response: Response,
    private readonly budget: MemoryBudget,
  ) {}

  get caller(): string {
    return this.identified ?? addressPrefixOf(this.request.ip ?? '');
  }

  /** Called when the credentials were right. */
  identify(userId: string | undefined, clientId: string): void {
    this.identified = userId === undefined ? `Client/${clientId}` : `User/${userId}`;
  }

  get signal(): EndSignal {
    return (this.end ??= new RequestEnd(this.response));
  }

  hold(bytes: number): Held {
    return this.keep(this.budget.takeNow(this.caller, bytes));
  }

  async holdInTurn(bytes: number): Promise<Held> {
    return this.keep(await this.budget.take({ key: this.caller, signal: this.signal }, bytes));
  }

  private keep(held: Held): Held {
    const all = (this.held ??= this.untilTheEnd());
    all.add(held);
    if (this.response.destroyed) held.release();
    return {
      shrinkTo: held.shrinkTo,
      release: () => {
        all.delete(held);
        held.release();
      },
    };
  }

  /** A set whose members are released when the request ends. */
  private untilTheEnd(): Set<Held> {
    const all = new Set<Held>();
    this.response.once('close', () => {
      for (const held of all) held.release();
      all.clear();
    });
    return all;
  }
}
