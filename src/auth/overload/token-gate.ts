import { Injectable } from '@nestjs/common';
import { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { addressPrefixOf } from '../../platform/http/address-prefix';
import { FairQueue } from '../../platform/http/fair-queue';

const TOKEN_ENDPOINT = '/auth/token';

/** Worked on at a time. More would wait for connections to the database, where addresses take no turns. */
const PLACES = 16;

/** More than these wait: a burst. Of one, a request is let in after each pause. */
const FEW = 8;
/** Issuing a token keeps the event loop busy for about as long. */
const PAUSE_MILLISECONDS = 2;
const PAUSE_BESIDE_OTHERS_MILLISECONDS = 5;

/** So long after the latest other request somebody else is held to be at work: who sends ten a second is. */
const RECENT_MILLISECONDS = 100;

interface Waiting {
  readonly response: Response;
  readonly next: NextFunction;
}

/**
 * Lets requests to the token endpoint in: while few are worked on, not all of a burst at once, and addresses take turns. Hundreds that
 * arrive together would else be parsed and answered in one turn of the event loop, and everybody else would wait for them.
 * libuv accepts one connection a turn, so whoever connects meanwhile waits for as many turns as others connected before: a burst
 * must not make them long.
 */
@Injectable()
export class TokenGate {
  private readonly waiting = new FairQueue<Waiting>();
  private readonly inside = new Set<Response>();
  private isAboutToAdmit = false;
  private otherAt = -Infinity;

  /** Stands first: what waits here has no context yet. */
  readonly handler: RequestHandler = (request, response, next) => {
    if (request.url.startsWith(TOKEN_ENDPOINT)) {
      this.waiting.add(callerOf(request), { response, next });
      this.admitSoon();
    } else {
      this.otherAt = performance.now();
      next();
    }
  };

  /** Whether requests are served that ask for no token: whoever has one is at work, and the others give way. */
  get hasOthers(): boolean {
    return performance.now() - this.otherAt < RECENT_MILLISECONDS;
  }

  /**
   * Runs the work that `response` answers; it takes a place until it is over. Whoever never sends the rest of a body, or never
   * reads an answer, has none.
   */
  async hold<T>(response: Response, work: () => Promise<T>): Promise<T> {
    this.inside.add(response);
    try {
      return await work();
    } finally {
      this.leave(response);
    }
  }

  /** Gives the place away of work that waits for something else from here on, or is over. */
  leave(response: Response): void {
    if (this.inside.delete(response)) this.admitSoon();
  }

  private admitSoon(): void {
    if (this.isAboutToAdmit || this.waiting.size === 0 || this.inside.size >= PLACES) return;
    this.isAboutToAdmit = true;
    if (this.waiting.size <= FEW) setImmediate(this.admit);
    else setTimeout(this.admit, this.hasOthers ? PAUSE_BESIDE_OTHERS_MILLISECONDS : PAUSE_MILLISECONDS);
  }

  private readonly admit = (): void => {
    this.isAboutToAdmit = false;
    this.takeNext()?.next();
    this.admitSoon();
  };

  /** Whoever hung up is left out: nobody would read the answer. */
  private takeNext(): Waiting | undefined {
    for (let next = this.waiting.take(); next !== undefined; next = this.waiting.take()) {
      if (!next.response.destroyed) return next;
    }
    return undefined;
  }
}

const callerOf = ({ ip }: Request): string => addressPrefixOf(ip ?? '');
