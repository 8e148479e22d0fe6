import { type Request } from 'express';
import { ServiceError } from '../errors/service-error';
import { Pace } from './pace';
import { tooLarge } from './unpack';

/** Larger bodies than this wait for memory, and their callers are served in turn. */
export const SMALL_BYTES = 64 * 1024;

export interface Receiving {
  /** The length by `Content-Length`; undefined for a chunked body. */
  readonly length: number | undefined;
  readonly mostBytes: number;
  readonly stallSeconds: number;
  /**
   * Called once, when a body of unknown length exceeds {@link SMALL_BYTES}. Reading pauses until its promise settles.
   */
  readonly grows: () => Promise<void>;
}

/**
 * Receives the bytes of a body. If the body is refused, its remaining bytes are dropped as they arrive.
 * @throws ServiceError 'too-large' or 'too-slow', or 'invalid' if the connection closes first
 */
export function receive(request: Request, { length, mostBytes, stallSeconds, grows }: Receiving): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.allocUnsafe(length ?? SMALL_BYTES);
    let size = 0;
    let isGrown = length !== undefined;
    const stop = (): void => {
      pace.stop();
      request.off('data', take).off('end', end).off('close', leave);
    };
    const fail = (error: Error): void => {
      stop();
      request.resume();
      reject(error);
    };
    const pace = new Pace(stallSeconds, () => {
      fail(tooSlow());
    });
    const grow = (): void => {
      isGrown = true;
      request.pause();
      pace.stop();
      grows().then(() => {
        pace.start();
        request.resume();
      }, fail);
    };
    const take = (chunk: Buffer): void => {
      const next = size + chunk.length;
      if (next > mostBytes) {
        fail(tooLarge(mostBytes));
        return;
      }
      if (next > bytes.length) bytes = copied(bytes, size, Math.max(next, 2 * bytes.length));
      chunk.copy(bytes, size);
      size = next;
      pace.move(chunk.length);
      if (!isGrown && size > SMALL_BYTES) grow();
    };
    const end = (): void => {
      stop();
      resolve(bytes.subarray(0, size));
    };
    const leave = (): void => {
      fail(new ServiceError('invalid', 'The connection was closed before the whole body came.'));
    };
    request.on('data', take).once('end', end).once('close', leave);
  });
}

function copied(bytes: Buffer, size: number, capacity: number): Buffer {
  const larger = Buffer.allocUnsafe(capacity);
  bytes.copy(larger, 0, 0, size);
  return larger;
}

const tooSlow = (): ServiceError =>
  new ServiceError(
    'too-slow',
    'The body did not arrive in time: 64 kB, or the rest, every few seconds. Send it again.',
  );
