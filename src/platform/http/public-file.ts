import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Request, type Response } from 'express';
import { memoized } from '../memoized';
import { acceptedEncoding, type Encoding } from './accepted-encoding';

const brotli = promisify(brotliCompress);

/**
 * Level 9 takes a tenth of the time of level 11, and its result is 5 % larger. With level 11, the first visitor would
 * wait over 2 s for a script of 1 MB.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => brotli(bytes, BROTLI),
  gzip: promisify(gzip),
};

/** A public file in memory, compressed once per encoding, with a digest for caches. */
export class PublicFile {
  readonly digest: string;
  private readonly compressed = memoized((encoding: Encoding) => COMPRESS[encoding](this.bytes));

  /** @param hasDigestInName whether the path changes with the content: caches may keep the file forever */
  constructor(
    private readonly mediaType: string,
    private readonly bytes: Buffer,
    private readonly hasDigestInName = false,
  ) {
    this.digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  }

  async send(request: Request, response: Response): Promise<void> {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    // The content of a URL that contains the digest never changes.
    const isNamed = this.hasDigestInName || request.query.v === this.digest;
    response.vary('Accept-Encoding');
    const etag = `W/"${this.digest}"`;
    response.set({
      ETag: etag,
      'Cache-Control': isNamed ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    if (request.headers['if-none-match']?.includes(etag) === true) {
      response.status(304).end();
      return;
    }
    response.set('Content-Type', this.mediaType);
    if (encoding !== undefined) response.set('Content-Encoding', encoding);
    response.end(encoding === undefined ? this.bytes : await this.compressed(encoding));
  }
}
