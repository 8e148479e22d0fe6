import { type Request } from 'express';
import { ServiceError } from '../errors/service-error';
import { tooLarge } from './unpack';

/** Larger bodies wait for memory, and their callers are served in turn. */
export const SMALL_BYTES = 64 * 1024;

export interface Receiving {
  /** By `Content-Length`; undefined for a chunked body. */
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
      timer.stop();
      request.off('data', take).off('end', end).off('close', leave);
    };
    const fail = (error: Error): void => {
      stop();
      request.resume();
      reject(error);
    };
    const timer = new StallTimer(stallSeconds, () => {
      fail(tooSlow());
    });
    const grow = (): void => {
      isGrown = true;
      request.pause();
      timer.stop();
      grows().then(() => {
        timer.start();
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
      timer.move(chunk.length);
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

/** Bytes of a body that must arrive in the time of a {@link StallTimer}. */
const STALL_BYTES = 64 * 1024;

/** Detects a stalled body: less than 64 kB of it, or less than its rest, arrives within a given time. */
class StallTimer {
  private moved = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly seconds: number,
    private readonly stalled: () => void,
  ) {
    this.start();
  }

  start(): void {
    clearTimeout(this.timer);
    this.moved = 0;
    this.timer = setTimeout(this.judge, this.seconds * 1000).unref();
  }

  move(bytes: number): void {
    this.moved += bytes;
    if (this.moved < STALL_BYTES) return;
    this.moved = 0;
    this.timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /**
   * Decides whether the body has stalled. After a long turn of the event loop, the timer fires before the bytes
   * that arrived meanwhile are read. So those bytes are read first.
   */
  private readonly judge = (): void => {
    const { timer, moved } = this;
    setImmediate(() => {
      if (this.timer !== timer) return;
      if (this.moved === moved) this.stalled();
      else this.start();
    });
  };
}
