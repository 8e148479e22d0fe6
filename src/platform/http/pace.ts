/** A transfer stalls if it moves fewer bytes than this in its time. */
const BYTES = 64 * 1024;

/** Detects a stalled transfer: under 64 kB, or under the rest, in some seconds. */
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
   * After a long turn of this process, the timer fires before the bytes that arrived meanwhile are read; so those are
   * read first.
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
