/** What must be undone at the end, however the bench ends: last in, first out, and once. */
export class Cleanup {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private running: Promise<void> | undefined;

  /** Waits for `starting` and undoes it at the end, also when the end comes before it is there. */
  async undoing<T>(starting: Promise<T> | T, undo: (started: T) => unknown): Promise<T> {
    this.steps.push(async () => {
      const started = await Promise.resolve(starting).catch(() => undefined);
      if (started !== undefined) await undo(started);
    });
    return starting;
  }

  /** Undoes everything; what fails is told and does not keep the rest from being undone. */
  run(): Promise<void> {
    this.running ??= this.undoAll();
    return this.running;
  }

  private async undoAll(): Promise<void> {
    for (let step = this.steps.pop(); step !== undefined; step = this.steps.pop()) {
      await step().catch((error: unknown) => {
        process.stderr.write(`While cleaning up: ${String(error)}\n`);
      });
    }
  }
}
