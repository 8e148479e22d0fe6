/** Progress of closing several Sessions. */
export interface ClosingProgress {
  readonly closed: number;
  readonly failed: number;
  /** The total number; undefined while the Sessions are being counted. */
  readonly total: number | undefined;
}

export interface ClosingOutcome extends ClosingProgress {
  /** Whether further Sessions remain open: one run closes at most {@link MOST_SESSIONS}. */
  readonly isMore: boolean;
  readonly firstFault?: unknown;
}

/** The maximum number of Sessions that one run closes. Another run continues. */
export const MOST_SESSIONS = 1_000;

/** The number of concurrent closes. It is small: each close is a write of the server, which also serves others. */
const AT_ONCE = 4;

/** The maximum number of failures. After more of them, closing stops. */
const MOST_FAILURES = 10;

/**
 * Closes Sessions, a few at a time, and reports each step.
 * @param ids of Sessions, read completely before the first is closed, since closed ones disappear from the search
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
