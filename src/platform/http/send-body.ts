import { type Response } from 'express';
import { type EndSignal } from '../admission/request-end';
import { type Ticket } from '../admission/ticket';
import { type RequestContext } from '../request/request-context';
import { type Slices } from '../time/slices';
import { acceptedEncoding } from './accepted-encoding';
import { AnswerEncoder } from './answer-encoder';

export interface TextSink {
  /**
   * The promise settles when the next text may be written, so that a slow reader slows the producer down.
   * @throws an error if the connection has closed
   */
  write(text: string): Promise<void>;
}

/**
 * A function that writes a body while it produces it, since the body may be larger than memory. An error before the
 * first 64 kB is sent like any other error.
 */
export type Produce = (sink: TextSink) => Promise<void>;

export const produceOf =
  (texts: Iterable<string> | AsyncIterable<string>): Produce =>
  async (sink) => {
    for await (const text of texts) await sink.write(text);
  };

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Converts a text while it is sent, for example to YAML. Each text that `print` gets ends between two JSON tokens. */
export interface TextPrinter {
  print(text: string): Iterable<string>;
  end(): string;
}

/** Settings of all answers, set by `app.setLocal(ANSWER_TERMS, …)`. */
export interface AnswerTerms {
  /** How many seconds a reader may take for 64 kB, or for the rest of an answer. */
  readonly stallSeconds: number;
  readonly requests: RequestContext;
  /** In each turn of the event loop, one long answer makes its texts; the callers are served in turn. */
  readonly slices: Slices;
}

export const ANSWER_TERMS = 'answerTerms';

/** How many characters of a streamed answer are passed to the socket at once. */
const CHUNK = 64 * 1024;

/**
 * Texts up to this length are passed to the socket whole. Cut into chunks of 64 kB, each in its own turn of the event
 * loop, a text of 200 kB took a fifth more CPU. Of longer texts, this much is sent per turn. With less per turn, texts
 * would wait for the turns of hundreds of other answers, and V8 would promote them to its old generation.
 */
const SENT_AT_ONCE = 256 * 1024;

/** Shorter answers are not compressed, since they fit into one packet anyway. */
const COMPRESSED_FROM_CHARACTERS = 1400;

/** How long an answer may make its texts before it lets other requests run. */
const TURN_MILLISECONDS = 8;

/**
 * Sends an answer; this function sends every answer of the server. A long answer is sent in chunks, and compressed if
 * the caller accepts that. Only the current chunk waits in memory for the socket. If a reader takes less than 64 kB in
 * `stallSeconds`, its connection is closed. The head is sent with the first chunk. An error before that is sent like
 * any other error. A later error closes the connection, so that a partial answer never looks complete.
 * @throws any error of `body`; ServiceError 'busy' when the memory budget has no room for a long answer
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
    // An inner answer, such as that of a Bundle entry, has no socket. Its response is destroyed with the error, so that
    // the outer request fails with the same error.
    if (sink.hasBegun) response.destroy(response.socket === null && error instanceof Error ? error : undefined);
    throw error;
  } finally {
    sink.close();
  }
}

/** Sends only the head of an answer: for an answer without a body, or a caller who does not want the body. */
export function sendHead(response: Response, head: AnswerHead): void {
  setHead(response, head);
  response.end();
}

async function sendWhole(response: Response, head: AnswerHead, text: string): Promise<void> {
  const { method, headers } = response.req;
  if (text.length > CHUNK && response.socket !== null) termsOf(response).requests.ticket.hold(text.length);
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
 * Closes the connection of a reader that is too slow for the last bytes, which remain in the buffer at the end of the
 * answer. Inner answers, such as those of Bundle entries, have no socket.
 */
function boundRest(response: Response): void {
  if (response.socket === null || response.writableLength === 0) return;
  const timer = setTimeout(() => response.destroy(), stallMillisecondsOf(response));
  response.once('close', () => {
    clearTimeout(timer);
  });
}

/** How long a reader may take for the bytes in the buffer of the socket. */
const stallMillisecondsOf = (response: Response): number =>
  Math.max(1, Math.ceil(response.writableLength / CHUNK)) * termsOf(response).stallSeconds * 1000;

export const termsOf = (response: Response): AnswerTerms => response.app.locals[ANSWER_TERMS] as AnswerTerms;

class ResponseSink implements TextSink {
  readonly signal: EndSignal;
  hasBegun = false;
  /** Whether the answer has ended with its head, because the caller wanted only the head. */
  hasEnded = false;
  private readonly ticket: Ticket;
  private readonly slices: Slices;
  private encoder: AnswerEncoder | undefined;
  /** Short texts that wait until they fill a chunk, sent before `long`. */
  private pending = '';
  private long = '';
  private turnEndsAt = performance.now() + TURN_MILLISECONDS;
  /** Bytes of this answer in the memory budget. */
  private counted = 0;
  /**
   * Characters sent in the current turn. It starts at the maximum, so that each answer waits for its turn first: many
   * answers may begin in one turn of the event loop.
   */
  private sentInTurn = SENT_AT_ONCE;

  constructor(
    private readonly response: Response,
    private readonly head: AnswerHead,
    private readonly body: string | Produce,
    private readonly printer: TextPrinter | undefined,
  ) {
    const { requests, slices } = termsOf(response);
    this.slices = slices;
    this.ticket = requests.ticket;
    this.signal = this.ticket.signal;
  }

  /**
   * Writes a text. No function that waits keeps a reference to the text: otherwise V8 would promote the texts for
   * hundreds of slow readers to its old generation.
   */
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

  /**
   * Adds a text to the short texts, or keeps it as the long text. A long text is not joined with others, which would
   * copy it.
   */
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
   * Passes bytes to the socket. They are not passed as a text: V8 would promote a text that waits for the socket to its
   * old generation, where it stays until a full garbage collection.
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
   * Lets other requests run. With fast readers, write() never waits, and a hundred sockets may drain at once. Without
   * this pause, all other requests would wait.
   */
  private async giveTurn(): Promise<void> {
    await this.slices.turn();
    this.sentInTurn = 0;
    this.turnEndsAt = performance.now() + TURN_MILLISECONDS;
  }

  private async drained(): Promise<void> {
    const { response } = this;
    this.signal.throwIfAborted(); // the connection may have closed before
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
   * Counts the longest text so far in the memory budget, until the end of the answer. So an answer whose texts have
   * equal lengths is refused before it begins, or not at all. The code that collects an inner answer counts its bytes.
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
 * Returns where the next chunk of a text ends. A text that is not much longer than a chunk is sent whole: a small rest
 * would keep the whole text in memory while the socket is full. A chunk never ends inside a surrogate pair, since both
 * halves would be sent as U+FFFD.
 */
function endOfChunk(text: string): number {
  if (text.length < 2 * CHUNK) return text.length;
  const isHigh = (text.charCodeAt(CHUNK - 1) & 0xfc00) === 0xd800;
  return isHigh ? CHUNK - 1 : CHUNK;
}
