/** How far the closing of several Sessions is. */
export interface ClosingProgress {
  readonly closed: number;
  readonly failed: number;
  /** How many there are; undefined while they are still counted. */
  readonly total: number | undefined;
}

export interface ClosingOutcome extends ClosingProgress {
  /** Whether there are further ones: one run closes {@link MOST_SESSIONS}. */
  readonly isMore: boolean;
  readonly firstFault?: unknown;
}

/** One run reads and closes so many; a second run goes on. */
export const MOST_SESSIONS = 1_000;

/** Each close is a write of the server: a few at a time leave it room for others. */
const AT_ONCE = 4;

/** Closing goes on after a failure, but not after this many. */
const MOST_FAILURES = 10;

/**
 * Closes Sessions, a few at a time, and reports each step.
 * @param ids of Sessions; read to their end before the first is closed, since closed ones leave the search
 */
export async function closeAll(
  ids: AsyncIterable<string>,
  close: (id: string) => Promise<unknown>,
  onProgress: (progress: ClosingProgress) => void,
  signal: AbortSignal,
): Promise<ClosingOutcome> {
  const found: string[] = [];
  let isMore = false;
  for await (const id of ids) {
    if (signal.aborted) break;
    if (found.length === MOST_SESSIONS) {
      isMore = true;
      break;
    }
    found.push(id);
  }
  const total = found.length;
  let [closed, failed, at] = [0, 0, 0];
  let firstFault: unknown;
  onProgress({ closed, failed, total });
  const worker = async (): Promise<void> => {
    for (let id = found[at++]; id !== undefined && !signal.aborted && failed < MOST_FAILURES; id = found[at++]) {
      try {
        await close(id);
        closed++;
      } catch (error) {
        firstFault ??= error;
        failed++;
      }
      onProgress({ closed, failed, total });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { closed, failed, total, isMore, ...(firstFault === undefined ? {} : { firstFault }) };
}
