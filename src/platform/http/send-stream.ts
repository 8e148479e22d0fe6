import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from 'node:zlib';
import { type Response } from 'express';
import { acceptedEncoding } from './send-text';

/** Where the texts of a long answer go, one after the other. */
export interface TextSink {
  /** Aborted when the caller has gone, or reads too slowly. */
  readonly signal: AbortSignal;
  /** Settles when the next text may come: a caller who reads slowly makes it wait. */
  write(text: string): Promise<void>;
}

export interface StreamLimits {
  /** How long a caller may take for one text. */
  readonly stallSeconds: number;
  /** How long the whole may take. */
  readonly mostSeconds: number;
}

/** Why a stream ended before its end; nobody is there to be told. */
export class StreamEnded extends Error {
  override readonly name = 'StreamEnded';
}

/**
 * Sends what `produce` writes, as it comes: nothing but the text at hand is kept. The head goes out with the first text, so that a
 * failure before it is answered as any other; one after it destroys the connection, so that a cut answer never looks whole.
 * @throws whatever `produce` throws before its first text
 */
export async function sendStream(
  response: Response,
  headers: Readonly<Record<string, string>>,
  limits: StreamLimits,
  produce: (sink: TextSink) => Promise<void>,
): Promise<void> {
  const sink = new ResponseSink(response, headers, limits);
  try {
    await produce(sink);
    sink.end();
  } catch (error) {
    if (error instanceof StreamEnded || sink.signal.aborted) return;
    if (sink.hasBegun) response.destroy();
    throw error;
  } finally {
    sink.close();
  }
}

class ResponseSink implements TextSink {
  hasBegun = false;
  private readonly controller = new AbortController();
  private readonly whole: NodeJS.Timeout;
  private encoder: Gzip | BrotliCompress | undefined;

  constructor(
    private readonly response: Response,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly limits: StreamLimits,
  ) {
    this.whole = setTimeout(this.cut, limits.mostSeconds * 1000);
    response.on('close', this.leave);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  async write(text: string): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.hasBegun) this.begin();
    if (this.response.writableEnded) throw new StreamEnded('The answer was ended by somebody else');
    const stalled = setTimeout(this.cut, this.limits.stallSeconds * 1000);
    try {
      await (this.encoder === undefined ? this.writePlain(text) : this.writeEncoded(this.encoder, text));
    } finally {
      clearTimeout(stalled);
    }
  }

  /** What is still on its way holds nothing up: only this process waits for it. */
  end(): void {
    if (!this.hasBegun) this.begin();
    this.signal.throwIfAborted();
    if (this.encoder === undefined) this.response.end();
    else this.encoder.end();
  }

  close(): void {
    clearTimeout(this.whole);
    this.response.off('close', this.leave);
  }

  private begin(): void {
    const { response, headers } = this;
    this.hasBegun = true;
    for (const name in headers) response.setHeader(name, headers[name] ?? '');
    if (response.req.method === 'HEAD') {
      response.end();
      throw new StreamEnded('The head is all that was asked for');
    }
    const encoding = acceptedEncoding(response.req.headers['accept-encoding']);
    if (encoding === undefined) return;
    response.setHeader('Content-Encoding', encoding);
    const encoder = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip({ level: constants.Z_BEST_SPEED });
    encoder.on('error', () => response.destroy()).pipe(response);
    this.encoder = encoder;
  }

  private async writePlain(text: string): Promise<void> {
    if (this.response.write(text)) return;
    await this.orAborted(new Promise<void>((resolve) => this.response.once('drain', resolve)));
  }

  /** Flushed each time: a compressor keeps what it got until it has enough, and the caller would wait. */
  private async writeEncoded(encoder: Gzip | BrotliCompress, text: string): Promise<void> {
    encoder.write(text);
    await this.orAborted(
      new Promise<void>((resolve) => {
        encoder.flush(resolve);
      }),
    );
  }

  private orAborted(done: Promise<void>): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as Error);
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        reject(this.signal.reason as Error);
      };
      this.signal.addEventListener('abort', fail, { once: true });
      void done.then(() => {
        this.signal.removeEventListener('abort', fail);
        resolve();
      });
    });
  }

  private readonly leave = (): void => {
    this.controller.abort(new StreamEnded('The caller has gone'));
  };

  private readonly cut = (): void => {
    this.controller.abort(new StreamEnded('The caller reads too slowly'));
    this.response.destroy();
  };
}

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 20 } };
