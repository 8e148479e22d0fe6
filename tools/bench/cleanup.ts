/** Undo steps at the end, however the bench ends: last in, first out, each once. */
export class Cleanup {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private running: Promise<void> | undefined;

  /**
   * Waits for `starting`, and registers its undo step. The step also runs if the bench ends before the start has ended.
   */
  async undoing<T>(starting: Promise<T> | T, undo: (started: T) => unknown): Promise<T> {
    this.steps.push(async () => {
      const started = await Promise.resolve(starting).catch(() => undefined);
      if (started !== undefined) await undo(started);
    });
    return starting;
  }

  /** Undoes everything; a failing step is reported, and the others still run. */
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
