import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Response } from 'express';
import { type EndSignal } from '../admission/request-end';
import { BACKGROUND, type Ticket } from '../admission/ticket';
import { atOnce, type Steps } from '../time/steps';
import { acceptedEncoding } from './accepted-encoding';
import { AnswerEncoder } from './answer-encoder';

/** Receives the texts of an answer, in order. */
export interface TextSink {
  /** Aborted when the connection closes; the sink closes connections of readers that are too slow. */
  readonly signal: EndSignal;
  /**
   * Settles when the next text may be written, so that a slow reader delays it.
   * @throws if the connection has closed
   */
  write(text: string): Promise<void>;
}

/**
 * Writes a body while it is produced, since it may be larger than memory. An error before 64 kB is answered like any
 * refusal.
 */
export type Produce = (sink: TextSink) => Promise<void>;

/** Writes the texts to the sink as they arrive. */
export const produceOf =
  (texts: Iterable<string> | AsyncIterable<string>): Produce =>
  async (sink) => {
    for await (const text of texts) await sink.write(text);
  };

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Rewrites a text while it is sent, for example as YAML. Each text that it receives ends between two JSON tokens. */
export interface TextPrinter {
  print(text: string): Iterable<string>;
  end(): string;
}

/** Terms of all answers of an application; `app.setLocal(ANSWER_TERMS, …)`. */
export interface AnswerTerms {
  /** Seconds that a reader may take for 64 kB, or for the rest of an answer. */
  readonly stallSeconds: number;
  /** The ticket of the current request. */
  readonly ticket: () => Ticket;
  /** Runs a computation in time slices, in turns with other requests. */
  readonly inSlices: <T>(steps: Steps<T>) => Promise<T>;
  /** Waits for a turn of the event loop. In each turn one long answer prints, in turns by caller. */
  readonly turn: () => Promise<void>;
}

export const ANSWER_TERMS = 'answerTerms';
const DEFAULT_TERMS: AnswerTerms = {
  stallSeconds: 10,
  ticket: () => BACKGROUND,
  inSlices: (steps) => Promise.resolve(atOnce(steps)),
  turn: () => nextTurn(),
};

/** Characters of a streamed answer that are passed to the socket at once. */
const CHUNK = 64 * 1024;

/**
 * Shorter texts are passed to the socket whole: cut into chunks of 64 kB with a turn between them, 200 kB took a fifth
 * more CPU. Of longer texts, this much is sent per turn: while texts wait for the turns of two hundred other answers,
 * V8 promotes them to its old generation.
 */
const SENT_AT_ONCE = 256 * 1024;

/** Below this length compression is useless, since the text fits into one packet anyway. */
const COMPRESSED_FROM_CHARACTERS = 1400;

/** Maximum time of printing between two yields to other requests. */
const TURN_MILLISECONDS = 8;

/**
 * Sends an answer; every answer of this server passes here. A long answer is sent in chunks, compressed if the caller
 * accepts that. Only the current chunk waits for the socket. A reader slower than 64 kB in `stallSeconds` loses the
 * connection. The head is sent with the first chunk: an earlier error is answered like any other, and a later one
 * closes the connection, so that a partial answer never looks complete.
 * @throws what `body` throws; ServiceError 'busy' when the memory budget has no room for a long answer
 */
export function sendBody(
  response: Response,
  head: AnswerHead,
  body: string | Produce,
  printer?: TextPrinter,
): Promise<void> {
  return typeof body === 'string' && printer === undefined && body.length < SENT_AT_ONCE
    ? sendWhole(response, head, body)
    : sendInTurns(response, head, body, printer);
}

async function sendInTurns(
  response: Response,
  head: AnswerHead,
  body: string | Produce,
  printer: TextPrinter | undefined,
): Promise<void> {
  const sink = new ResponseSink(response, head, body, printer);
  try {
    if (typeof body === 'string') await sink.write(body);
    else await body(sink);
    await sink.end();
  } catch (error) {
    if (sink.hasEnded || sink.signal.aborted) return;
    // An inner answer has no socket: its outer request is refused with the same error.
    if (sink.hasBegun) response.destroy(response.socket === null && error instanceof Error ? error : undefined);
    throw error;
  } finally {
    sink.close();
  }
}

/** Sends an answer without a body, or whose body this caller does not want. */
export function sendHead(response: Response, head: AnswerHead): void {
  setHead(response, head);
  response.end();
}

async function sendWhole(response: Response, head: AnswerHead, text: string): Promise<void> {
  const { method, headers } = response.req;
  if (text.length > CHUNK && response.socket !== null) termsOf(response).ticket().hold(text.length);
  setHead(response, head);
  const encoding = text.length < COMPRESSED_FROM_CHARACTERS ? undefined : acceptedEncoding(headers['accept-encoding']);
  if (method === 'HEAD') {
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end();
  } else if (encoding === undefined) response.end(text);
  else {
    const encoded = await new AnswerEncoder(encoding).finish(text);
    if (response.destroyed) return;
    response.setHeader('Content-Encoding', encoding);
    response.end(encoded);
  }
  boundRest(response);
}

function setHead(response: Response, { status, headers }: AnswerHead): void {
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
}

/**
 * The pace also applies to the bytes that remain at the end of the answer. Answers within this process have no socket.
 */
function boundRest(response: Response): void {
  if (response.socket === null || response.writableLength === 0) return;
  const timer = setTimeout(() => response.destroy(), stallMillisecondsOf(response));
  response.once('close', () => {
    clearTimeout(timer);
  });
}

/** Time that a reader may take for the bytes in the socket's buffer. */
const stallMillisecondsOf = (response: Response): number =>
  Math.max(1, Math.ceil(response.writableLength / CHUNK)) * termsOf(response).stallSeconds * 1000;

export const termsOf = (response: Response): AnswerTerms =>
  (response.app.locals[ANSWER_TERMS] as AnswerTerms | undefined) ?? DEFAULT_TERMS;

class ResponseSink implements TextSink {
  readonly signal: EndSignal;
  hasBegun = false;
  /** Whether the caller wanted only the head, which is sent. */
  hasEnded = false;
  private readonly ticket: Ticket;
  private readonly turn: () => Promise<void>;
  private encoder: AnswerEncoder | undefined;
  /** Short texts that wait until a chunk is full. They are sent before `long`. */
  private pending = '';
  /** The rest of a long text. */
  private long = '';
  private turnEndsAt = performance.now() + TURN_MILLISECONDS;
  /** Bytes counted in the memory budget. */
  private counted = 0;
  /** Initially full, since many answers may begin in one turn. */
  private sentInTurn = SENT_AT_ONCE;

  constructor(
    private readonly response: Response,
    private readonly head: AnswerHead,
    private readonly body: string | Produce,
    private readonly printer: TextPrinter | undefined,
  ) {
    const { ticket, turn } = termsOf(response);
    this.turn = turn;
    this.ticket = ticket();
    this.signal = this.ticket.signal;
  }

  /** No waiting frame holds a text: V8 would promote the texts of hundreds of slow readers to its old generation. */
  async write(text: string): Promise<void> {
    this.signal.throwIfAborted();
    if (text.length > CHUNK) this.count(text.length);
    if (this.printer === undefined) return this.take(text);
    for (const printed of this.printer.print(text)) await this.take(printed);
  }

  async end(): Promise<void> {
    if (this.printer !== undefined) await this.take(this.printer.end());
    const { response, pending, encoder } = this;
    if (!this.hasBegun) {
      await sendWhole(response, this.head, pending);
      return;
    }
    const rest = encoder === undefined ? pending : await encoder.finish(pending);
    this.signal.throwIfAborted();
    if (rest.length === 0) response.end();
    else response.end(rest);
    boundRest(response);
  }

  close(): void {
    this.encoder?.close();
  }

  /** Collects short texts. A long text is never joined to others as a whole, which would copy it. */
  private take(text: string): Promise<void> {
    if (text.length < CHUNK) this.pending += text;
    else this.long = text;
    return this.sendChunks();
  }

  private async sendChunks(): Promise<void> {
    while (this.long !== '' || this.pending.length >= CHUNK) await this.send(this.nextChunk());
    if (performance.now() > this.turnEndsAt) await this.giveTurn();
  }

  private nextChunk(): string {
    const { pending, long } = this;
    const end = endOfChunk(long);
    this.pending = '';
    this.long = long.slice(end);
    return pending + long.slice(0, end);
  }

  private send(text: string): Promise<void> {
    if (!this.hasBegun) this.begin();
    this.sentInTurn += text.length;
    return this.encoder === undefined
      ? this.put(Buffer.from(text))
      : this.encoder.encode(text).then((bytes) => this.put(bytes));
  }

  /**
   * As bytes: V8 would promote a text that waits for the socket to its old generation, where it stays until a full
   * garbage collection.
   */
  private put(bytes: Buffer): Promise<void> {
    this.signal.throwIfAborted();
    return this.paused(bytes.length === 0 || this.response.write(bytes));
  }

  private async paused(hasRoom: boolean): Promise<void> {
    if (!hasRoom) await this.drained();
    if (this.sentInTurn >= SENT_AT_ONCE) await this.giveTurn();
  }

  /**
   * With fast readers write() never waits, and a hundred sockets may drain at once; without this yield, other requests
   * would wait.
   */
  private async giveTurn(): Promise<void> {
    await this.turn();
    this.sentInTurn = 0;
    this.turnEndsAt = performance.now() + TURN_MILLISECONDS;
  }

  private async drained(): Promise<void> {
    const { response } = this;
    this.signal.throwIfAborted(); // 'close' may have been emitted before
    const stalled = setTimeout(() => response.destroy(), stallMillisecondsOf(response));
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        response.off('drain', wake).off('close', wake);
        resolve();
      };
      response.on('drain', wake).on('close', wake);
    });
    clearTimeout(stalled);
    this.signal.throwIfAborted();
  }

  /**
   * Counts the longest text so far until the answer ends. So an answer whose texts have equal lengths is refused before
   * it begins, or not at all. For an inner answer, its recipient counts the bytes.
   * @throws ServiceError 'busy'
   */
  private count(bytes: number): void {
    if (this.response.socket === null || bytes <= this.counted) return;
    this.ticket.hold(bytes - this.counted);
    this.counted = bytes;
  }

  private begin(): void {
    const { response, head, body } = this;
    const isWhole = typeof body === 'string' && this.printer === undefined;
    this.count(2 * CHUNK);
    this.hasBegun = true;
    setHead(response, head);
    const encoding = acceptedEncoding(response.req.headers['accept-encoding']);
    if (isWhole && encoding === undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
    if (response.req.method === 'HEAD') {
      this.hasEnded = true;
      response.end();
      throw new Error('The caller asked for the head alone');
    }
    if (encoding === undefined) return;
    response.setHeader('Content-Encoding', encoding);
    this.encoder = new AnswerEncoder(encoding);
  }
}

/**
 * A slightly longer text is passed on whole: its rest would keep all of it in memory while the socket is full. A chunk
 * never ends within a surrogate pair, whose halves would each be sent as U+FFFD.
 */
function endOfChunk(text: string): number {
  if (text.length < 2 * CHUNK) return text.length;
  const isHigh = (text.charCodeAt(CHUNK - 1) & 0xfc00) === 0xd800;
  return isHigh ? CHUNK - 1 : CHUNK;
}
