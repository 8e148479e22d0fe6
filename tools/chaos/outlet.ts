import { type Socket } from 'node:net';

interface Piece {
  readonly bytes: Buffer;
  readonly after: (() => Promise<unknown>) | undefined;
}

/** Writes pieces to a socket in order. A delayed piece delays all later pieces. */
export class Outlet {
  private readonly waiting: Piece[] = [];
  private isHeld = false;

  constructor(private readonly socket: Socket) {}

  /** @param after resolves when the bytes may be written; by default at once */
  send(bytes: Buffer, after?: () => Promise<unknown>): void {
    if (!this.isHeld && after === undefined) {
      this.socket.write(bytes);
      return;
    }
    this.waiting.push({ bytes, after });
    if (!this.isHeld) void this.drain();
  }

  /** Sends everything that `work` writes as one packet. */
  together(work: () => void): void {
    this.socket.cork();
    work();
    this.socket.uncork();
  }

  private async drain(): Promise<void> {
    this.isHeld = true;
    for (let piece = this.waiting.shift(); piece !== undefined; piece = this.waiting.shift()) {
      await piece.after?.();
      if (!this.socket.writable) break;
      this.socket.write(piece.bytes);
    }
    this.isHeld = false;
  }
}
