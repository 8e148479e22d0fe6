import { type IncomingMessage } from 'node:http';
import { type Request, type RequestHandler } from 'express';
import { ServiceError } from '../errors/service-error';
import { type RequestContext } from '../request/request-context';
import { receive, SMALL_BYTES } from './receive';
import { type Ticket } from '../admission/ticket';
import { tooLarge, unpackingOf } from './unpack';

export interface BodyRules {
  readonly limitBytes: number;
  /** 64 kB of a body, or its rest, must come in so many seconds. */
  readonly stallSeconds: number;
  /**
   * Judges the credentials in the headers of a request.
   * @throws ServiceError 'unauthorized' when they do not hold; the guard of its route refuses it then. Any other error
   * is the answer.
   */
  readonly judge: (request: Request) => Promise<void>;
}

/** Routes below it take bodies without credentials: small ones, never packed. */
const OPEN_PATH = '/auth/';
const METHODS = new Set(['POST', 'PUT', 'PATCH']);

/**
 * A byte of a body takes about this many while a request is worked on: the bytes, their text, its compact form, parsed
 * values, what is stored. Measured: 6 of a Binary, 19 of a Patient with 150,000 names.
 */
const COST = 8;
const memoryCost = (bytes: number): number => bytes * COST;

/**
 * Reads bodies as bytes: each edge reads them as text by its own rules (docs/explanation/requests.md, "Bodies"). Only
 * of callers whose credentials hold, and only when the memory budget has room for what becomes of them.
 */
export function requestBodies(requests: RequestContext, rules: BodyRules): RequestHandler {
  return (request, response, next) => {
    if (!hasBody(request)) {
      next();
      return;
    }
    response.once('finish', () => {
      dropUnread(request, rules.stallSeconds);
    });
    if (!METHODS.has(request.method)) {
      next();
      return;
    }
    const isOpen = request.url.startsWith(OPEN_PATH);
    const read = isOpen ? openBody(request, rules) : callersBody(request, requests.ticket, rules);
    read.then(
      (body) => {
        request.body = body;
        next();
      },
      (error: unknown) => {
        if (response.destroyed) return;
        // Routes below it answer and log in words of OAuth: `bodyOf` throws it there.
        if (isOpen) request.body = error;
        next(isOpen ? undefined : error);
      },
    );
  };
}

/** Whether a stranger sends a body. */
export const hasOpenBody = (request: IncomingMessage): boolean =>
  request.url?.startsWith(OPEN_PATH) === true && hasBody(request);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

const lengthOf = ({ headers }: Request): number | undefined =>
  headers['content-length'] === undefined ? undefined : Number(headers['content-length']);

async function openBody(request: Request, { limitBytes, stallSeconds }: BodyRules): Promise<Buffer> {
  if (unpackingOf(request.headers['content-encoding']) !== undefined) {
    throw new ServiceError('unsupported-media-type', 'Send the body without Content-Encoding.', {
      code: 'content-encoding-unsupported',
    });
  }
  const mostBytes = Math.min(limitBytes, SMALL_BYTES);
  const length = lengthOf(request);
  if (length !== undefined && length > mostBytes) throw tooLarge(mostBytes);
  return receive(request, { length, mostBytes, stallSeconds, grows: () => Promise.resolve() });
}

/** Undefined, with nothing read, when the credentials do not hold. */
async function callersBody(request: Request, ticket: Ticket, rules: BodyRules): Promise<Buffer | undefined> {
  const { limitBytes, stallSeconds } = rules;
  if (!(await isCaller(request, rules))) return undefined;
  const length = lengthOf(request);
  const unpack = unpackingOf(request.headers['content-encoding']);
  if (length !== undefined && length > limitBytes) throw tooLarge(limitBytes);
  const expected = length ?? SMALL_BYTES;
  let held =
    expected <= SMALL_BYTES ? ticket.hold(memoryCost(expected)) : await ticket.holdInTurn(memoryCost(expected));
  /**
   * Gives the bytes back before it waits for more: requests that hold some and wait for more could wait for each other.
   */
  const holdMost = async (): Promise<void> => {
    held.release();
    held = await ticket.holdInTurn(memoryCost(limitBytes));
  };
  let body = await receive(request, { length, mostBytes: limitBytes, stallSeconds, grows: holdMost });
  if (unpack !== undefined) {
    // Its size is known afterwards, and brotli takes 16 MiB to unpack 27 bytes.
    await holdMost();
    body = await unpack(body, limitBytes);
  }
  held.shrinkTo(memoryCost(body.length));
  // It may have taken long: a Session that was closed meanwhile has no rights any more.
  return body.length <= SMALL_BYTES || (await isCaller(request, rules)) ? body : undefined;
}

/**
 * @throws every error that is no refusal: a request whose body was left unread must not reach its route as an empty one
 */
async function isCaller(request: Request, { judge }: BodyRules): Promise<boolean> {
  try {
    await judge(request);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'unauthorized') return false;
    throw error;
  }
}

/**
 * Node reads and drops the rest of a body that was answered unread, so that the client gets the answer. That must end.
 */
function dropUnread(request: Request, seconds: number): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), seconds * 1000).unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
}
