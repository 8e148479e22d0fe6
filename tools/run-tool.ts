/**
 * Runs a tool. Its exit code is the number that `main` returns. If `main` fails, the error is printed without a stack,
 * since operators read it, and the exit code is `failed`.
 */
export function runTool(main: () => Promise<unknown>, failed = 1): void {
  main().then(
    (code) => {
      if (typeof code === 'number') process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = failed;
    },
  );
}
