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

/**
 * Runs a tool for developers, and then undoes what it has started, also after a failure or a signal. The exit code is
 * the number that `main` returns, 1 after an error, 130 after a signal. Errors after a signal are expected, so they are
 * not shown.
 */
export function runUndoing(main: (cleanup: Cleanup) => Promise<unknown>): void {
  const cleanup = new Cleanup();
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isInterrupted = true;
      void cleanup.run().then(() => process.exit(130));
    });
  }
  main(cleanup)
    .catch((error: unknown) => {
      if (!isInterrupted)
        process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      return 1;
    })
    .then(async (code) => {
      await cleanup.run();
      if (typeof code === 'number') process.exitCode = code;
    })
    .catch(() => undefined);
}
