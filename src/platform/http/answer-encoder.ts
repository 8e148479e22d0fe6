import { type BrotliCompress, constants, createBrotliCompress, createGzip, type Gzip } from 'node:zlib';
import { type Encoding } from './accepted-encoding';

/**
 * Compressors with their fastest levels, which compress clinical JSON to 3 to 15 percent. Higher levels save little
 * more and take twice the time (ADR 0018).
 */
const ENCODERS: Readonly<Record<Encoding, () => Gzip | BrotliCompress>> = {
  gzip: () => createGzip({ level: constants.Z_BEST_SPEED }),
  br: () =>
    createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 20 } }),
};

/** Compresses one answer, on Node's thread pool. */
export class AnswerEncoder {
  private readonly stream: Gzip | BrotliCompress;
  private encoded: Buffer[] = [];

  constructor(encoding: Encoding) {
    this.stream = ENCODERS[encoding]();
    this.stream.on('data', (chunk: Buffer) => this.encoded.push(chunk));
  }

  /** Compresses a text and flushes it. Otherwise the compressor would buffer the text, and the reader would wait. */
  async encode(text: string): Promise<Buffer> {
    await this.settled((done) => {
      this.stream.write(text);
      this.stream.flush(done);
    });
    return this.taken();
  }

  async finish(text: string): Promise<Buffer> {
    await this.settled((done) => {
      this.stream.once('end', done).end(text);
    });
    return this.taken();
  }

  close(): void {
    this.stream.destroy();
  }

  private settled(start: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stream.once('error', reject);
      start(() => {
        this.stream.off('error', reject);
        resolve();
      });
    });
  }

  private taken(): Buffer {
    const encoded = Buffer.concat(this.encoded);
    this.encoded = [];
    return encoded;
  }
}
