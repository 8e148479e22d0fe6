import { brotliCompress, constants, gzip, type InputType } from 'node:zlib';
import { type Response } from 'express';

/** Shorter texts fit into one packet anyway. */
const COMPRESSED_FROM_CHARACTERS = 1400;

type Encoding = 'br' | 'gzip';
type Done = (error: Error | null, compressed: Buffer) => void;

/** The fastest levels: of clinical JSON they leave 3 to 15 percent, the thorough ones hardly less at twice the time (ADR 0018). */
const COMPRESS: Readonly<Record<Encoding, (text: InputType, done: Done) => void>> = {
  gzip: (text, done) => {
    gzip(text, { level: constants.Z_BEST_SPEED }, done);
  },
  br: (text, done) => {
    brotliCompress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 20 } }, done);
  },
};

/**
 * Ends an answer whose status and headers are set. A long text is compressed when the caller takes that, on Node's
 * thread pool: this returns before it is sent.
 */
export function sendText(response: Response, text: string): void {
  const { method, headers } = response.req;
  if (method === 'HEAD') {
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end();
    return;
  }
  const encoding = text.length < COMPRESSED_FROM_CHARACTERS ? undefined : acceptedEncoding(headers['accept-encoding']);
  if (encoding === undefined) {
    response.end(text);
    return;
  }
  COMPRESS[encoding](text, (error, compressed) => {
    if (response.destroyed) return;
    if (error === null) response.setHeader('Content-Encoding', encoding);
    response.end(error === null ? compressed : text);
  });
}

/** Reads `Accept-Encoding` (RFC 9110, section 12.5.3): br before gzip, since it is the faster one here. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const codings = new Map(String(header).toLowerCase().split(',', MAX_CODINGS).map(codingOf));
  const accepts = (name: string): boolean => codings.get(name) ?? codings.get('*') ?? false;
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined;
}

const MAX_CODINGS = 20;

function codingOf(text: string): [name: string, isAccepted: boolean] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  return [name === 'x-gzip' ? 'gzip' : name, !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter))];
}
