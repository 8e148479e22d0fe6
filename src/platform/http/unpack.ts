import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';
import { ServiceError } from '../errors/service-error';
import { isSystemError } from '../errors/system-error';

type Unpack = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

const UNPACK = new Map<string, Unpack>([
  ['gzip', promisify<InputType, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<InputType, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<InputType, ZlibOptions, Buffer>(brotliDecompress)],
]);

const CHUNK_BYTES = 64 * 1024;

/**
 * Returns the function that decompresses a body with this `Content-Encoding`; undefined if it is not compressed.
 * @throws ServiceError 'unsupported-media-type' for another encoding; the returned function throws 'too-large' for more
 * than `mostBytes`, and 'invalid' for bytes that are not in this encoding
 */
export function unpackingOf(
  contentEncoding = 'identity',
): ((bytes: Buffer, mostBytes: number) => Promise<Buffer>) | undefined {
  const encoding = contentEncoding.toLowerCase();
  if (encoding === 'identity') return undefined;
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined) {
    throw new ServiceError(
      'content-encoding-unsupported',
      'The content encoding of the body is not supported; use gzip, deflate, br or none.',
    );
  }
  return async (bytes, mostBytes) => {
    try {
      return await unpack(bytes, { maxOutputLength: mostBytes, chunkSize: CHUNK_BYTES });
    } catch (error) {
      if (isSystemError(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(mostBytes);
      throw new ServiceError(
        'body-malformed',
        'The body cannot be unpacked: it is not what its Content-Encoding names. Send it as that, or without.',
        {},
        { cause: error },
      );
    }
  };
}

export function tooLarge(mostBytes: number): ServiceError {
  const mebibytes = mostBytes / 1024 / 1024;
  const size = mebibytes >= 1 ? `${Number(mebibytes.toFixed(1))} MiB` : `${mostBytes} bytes`;
  return new ServiceError(
    'body-too-large',
    `The request body is larger than the ${size} that this server takes. Send it in parts.`,
  );
}
