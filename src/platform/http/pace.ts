/** How many bytes a transfer must move in its time. With fewer, it has stalled. */
const BYTES = 64 * 1024;

/** Detects a stalled transfer: one that moves less than 64 kB, or less than its rest, within a given time. */
export class Pace {
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
    if (this.moved < BYTES) return;
    this.moved = 0;
    this.timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /**
   * Decides whether the transfer has stalled. After a long turn of the event loop, the timer fires before the bytes
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
