import { type Request, type Response } from 'express';
import { addressPrefixOf } from './address-prefix';
import { type MemoryBudget } from './memory-budget';
import { type EndSignal, NEVER, RequestEnd } from './request-end';
import { type Held } from './slots';

/**
 * A running request as code below HTTP sees it: its caller, its end signal, and the memory that it holds. Read it from
 * `RequestContext.ticket`.
 */
export interface Ticket {
  /** The key of the caller in queues: the User or Client, or the address prefix of a request without credentials. */
  readonly caller: string;
  /**
   * Aborts if the connection closes before the answer is sent, with a ServiceError as its reason. It ends all work for
   * the request: statements, Bundles, dry runs, long loops.
   */
  readonly signal: EndSignal;
  /**
   * Counts bytes that this request has in memory: collected answers, and output that the socket has not taken. Bytes
   * that are not released are released at the end of the request.
   * @throws ServiceError 'busy' if the budget of the process, or the share of the caller, is full
   */
  hold(bytes: number): Held;
  /**
   * Like {@link hold}, but waits until there is room. Waiting callers are served in turn.
   * @throws ServiceError 'busy' after the longest wait, or if the client disconnects
   */
  holdInTurn(bytes: number): Promise<Held>;
}

const NOTHING: Held = { shrinkTo: () => undefined, release: () => undefined };

/** The ticket of background work. Such work has no client, and the code that runs it limits its memory. */
export const BACKGROUND: Ticket = {
  caller: '',
  signal: NEVER,
  hold: () => NOTHING,
  holdInTurn: () => Promise.resolve(NOTHING),
};

/**
 * The ticket of a request from the network. Its parts are created on demand, so that a simple read does not pay for
 * them.
 */
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
    return this.keep(await this.budget.take(this, bytes));
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

  /** Returns a set whose members are released when the request ends. */
  private untilTheEnd(): Set<Held> {
    const all = new Set<Held>();
    this.response.once('close', () => {
      for (const held of all) held.release();
      all.clear();
    });
    return all;
  }
}
