import { type IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response } from 'express';
import { addressPrefixOf } from '../admission/address-prefix';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';
import { ServiceError } from '../errors/service-error';
import { type RequestContext } from '../request/request-context';
import { receive, SMALL_BYTES } from './receive';
import { tooLarge, unpackingOf } from './unpack';

export interface BodyRules {
  readonly limitBytes: number;
  /** Within this many seconds, 64 kB of a body, or its rest, must arrive. */
  readonly stallSeconds: number;
  /**
   * Checks the credentials in the headers of a request.
   * @throws ServiceError 'unauthorized' if they are invalid; the guard of the route then refuses the request. Any other
   * error is sent as the response
   */
  readonly judge: (request: Request) => Promise<void>;
}

/** Bodies below this path need no credentials, but must be small and uncompressed. */
const OPEN_PATH = '/auth/';
const METHODS = new Set(['POST', 'PUT', 'PATCH']);

/**
 * How many bytes of memory one byte of a body needs, approximately, while its request is processed: for the bytes, the
 * text, its compact form, the parsed values, and the stored form. Measured: 6 for a Binary, 19 for a Patient with
 * 150,000 names.
 */
const COST = 8;
const memoryCost = (bytes: number): number => bytes * COST;

/**
 * Reads bodies as bytes. Each API then decodes them by its own rules (docs/explanation/requests.md, "Bodies"). A body
 * is read only after the credentials were verified, and only if the memory budget has room for all values derived from
 * it.
 */
export function requestBodies(requests: RequestContext, rules: BodyRules): RequestHandler {
  // Unread bodies are dropped in turn, since 1,000 of them have gigabytes.
  const drops = new Slots({ permits: 4 });
  return (request, response, next) => {
    if (!hasBody(request)) {
      next();
      return;
    }
    response.once('prefinish', () => {
      dropUnread(request, response, rules.stallSeconds, drops);
    });
    if (!METHODS.has(request.method)) {
      next();
      return;
    }
    const isOpen = request.url.startsWith(OPEN_PATH);
    const read = isOpen ? openBody(request, rules) : callersBody(request, requests, rules);
    read.then(
      (body) => {
        request.body = body;
        next();
      },
      (error: unknown) => {
        if (response.destroyed) return;
        // Routes below `/auth/` send and log errors in the format of OAuth. So the error is stored as the body here,
        // and `bodyOf` throws it in the route.
        if (isOpen) request.body = error;
        next(isOpen ? undefined : error);
      },
    );
  };
}

/** Whether a request has a body and goes to a route that needs no credentials. */
export const hasOpenBody = (request: IncomingMessage): boolean =>
  request.url?.startsWith(OPEN_PATH) === true && hasBody(request);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

const lengthOf = ({ headers }: Request): number | undefined =>
  headers['content-length'] === undefined ? undefined : Number(headers['content-length']);

async function openBody(request: Request, { limitBytes, stallSeconds }: BodyRules): Promise<Buffer> {
  if (unpackingOf(request.headers['content-encoding']) !== undefined) {
    throw new ServiceError('content-encoding-unsupported', 'Send the body without Content-Encoding.');
  }
  const mostBytes = Math.min(limitBytes, SMALL_BYTES);
  const length = lengthOf(request);
  if (length !== undefined && length > mostBytes) throw tooLarge(mostBytes);
  return receive(request, { length, mostBytes, stallSeconds, grows: () => Promise.resolve() });
}

/** Returns undefined, and reads nothing, if the credentials are invalid. */
async function callersBody(request: Request, requests: RequestContext, rules: BodyRules): Promise<Buffer | undefined> {
  const { limitBytes, stallSeconds } = rules;
  const { ticket } = requests;
  if (!(await isCaller(request, rules))) return undefined;
  const length = lengthOf(request);
  const unpack = unpackingOf(request.headers['content-encoding']);
  if (length !== undefined && length > limitBytes) throw tooLarge(limitBytes);
  const expected = length ?? SMALL_BYTES;
  let held =
    expected <= SMALL_BYTES ? ticket.hold(memoryCost(expected)) : await ticket.holdInTurn(memoryCost(expected));
  /**
   * Takes memory for a body of the maximum size. The memory taken before is released first: otherwise requests that
   * wait for more memory could deadlock.
   */
  const holdMost = async (): Promise<void> => {
    held.release();
    held = await ticket.holdInTurn(memoryCost(limitBytes));
  };
  let body = await receive(request, { length, mostBytes: limitBytes, stallSeconds, grows: holdMost });
  if (unpack !== undefined) {
    // The decompressed size is known only afterwards, and brotli needs 16 MiB even to decompress 27 bytes.
    await holdMost();
    body = await unpack(body, limitBytes);
  }
  held.shrinkTo(memoryCost(body.length));
  if (body.length <= SMALL_BYTES) return body;
  // The credentials of a large body are checked again: reading may have taken long, and a Session that was closed
  // meanwhile has no rights any more.
  requests.forgetCaller();
  return (await isCaller(request, rules)) ? body : undefined;
}

/**
 * Whether the credentials are valid.
 * @throws any error other than 'unauthorized': otherwise the request would reach its route, which would treat the
 * unread body as empty
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
 * Drops the rest of an unread body after the response, for a limited time. A connection that the client wants closed
 * stays open meanwhile: if it closed while bytes arrive, TCP would reset it, and the client might lose the response
 * (RFC 9112, section 9.6).
 */
function dropUnread(request: Request, response: Response, seconds: number, drops: Slots): void {
  if (request.complete) return;
  const { socket } = request;
  const isLast = !response.shouldKeepAlive;
  if (isLast) socket.destroySoon = () => socket.end();
  const timer = setTimeout(() => socket.destroy(), seconds * 1000).unref();
  (isLast ? socket : request).once('close', () => {
    clearTimeout(timer);
  });
  request.on('data', () => {
    request.pause();
    void drops.run({ caller: addressPrefixOf(socket.remoteAddress ?? '') }, quietTurn).then(() => request.resume());
  });
}
