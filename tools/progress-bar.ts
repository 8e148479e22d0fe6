export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface ProgressBarOptions {
  readonly label: string;
  readonly total: number;
  /** The part of `total` that was done before, such as by an earlier call. The rate does not count it. */
  readonly done?: number;
  readonly output?: ProgressOutput;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs?: () => number;
}

const WIDTH = 24;
const REDRAW_MS = 100;
const LINE_MS = 60_000;
const ERASE_TO_END_OF_LINE = '\x1b[K';

/** Shows progress, rate and remaining time of a job: redrawn on a terminal, else a line every 10 % and every minute. */
export class ProgressBar {
  private readonly label: string;
  private readonly total: number;
  private readonly output: ProgressOutput;
  private readonly nowMs: () => number;
  private readonly startedMs: number;
  private readonly doneBefore: number;
  private done: number;
  private drawnMs: number;

  constructor({
    label,
    total,
    done = 0,
    output = process.stdout,
    nowMs = () => performance.now(),
  }: ProgressBarOptions) {
    this.label = label;
    this.total = total;
    this.doneBefore = done;
    this.done = done;
    this.output = output;
    this.nowMs = nowMs;
    this.startedMs = nowMs();
    this.drawnMs = output.isTTY === true ? -Infinity : this.startedMs;
  }

  advance(count = 1): void {
    const tenthsBefore = this.tenths();
    this.done += count;
    const isComplete = this.done === this.total;
    if (this.output.isTTY !== true) {
      if (this.tenths() === tenthsBefore && this.nowMs() - this.drawnMs < LINE_MS) return;
      this.drawnMs = this.nowMs();
      this.output.write(`${this.line()}\n`);
    } else if (isComplete || this.nowMs() - this.drawnMs >= REDRAW_MS) {
      this.drawnMs = this.nowMs();
      this.output.write(`\r${this.line()}${ERASE_TO_END_OF_LINE}${isComplete ? '\n' : ''}`);
    }
  }

  private tenths(): number {
    return Math.floor((this.done * 10) / this.total);
  }

  private line(): string {
    const share = this.done / this.total;
    const filled = Math.round(share * WIDTH);
    const bar = '#'.repeat(filled) + '-'.repeat(WIDTH - filled);
    const percent = String(Math.floor(share * 100)).padStart(3);
    const elapsedSeconds = Math.max((this.nowMs() - this.startedMs) / 1000, 0.001);
    const perSecond = (this.done - this.doneBefore) / elapsedSeconds;
    const leftSeconds = (this.total - this.done) / perSecond;
    const time = this.done === this.total ? `${elapsedSeconds.toFixed(1)} s` : `${leftSeconds.toFixed(1)} s left`;
    return `${this.label} [${bar}] ${percent} %  ${this.done}/${this.total}  ${perSecond.toFixed(0)}/s  ${time}`;
  }
}
