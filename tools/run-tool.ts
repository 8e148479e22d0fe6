/**
 * Runs a tool. Its exit code is the number that `main` returns. If `main` fails, the error is printed without a stack,
 * since operators read it, and the exit code is `failed`. If the output cannot be written, because its reader has ended
 * (EPIPE) or the disk is full (ENOSPC), the work still goes on to its end, and then the exit code is `failed` too.
 */
export function runTool(main: () => Promise<unknown>, failed = 1): void {
  let lost: string | undefined;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', ({ message }: Error) => {
      lost ??= message;
    });
  }
  process.once('exit', () => {
    if (lost === undefined) return;
    process.stderr.write(`Lines of the output are lost: ${lost}\n`);
    if ((process.exitCode ?? 0) === 0) process.exitCode = failed;
  });
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
