import { type Browser, type Page } from 'playwright-core';

/** Limit of the browser's longest task, which docs/console.md promises. Measured: 60 to 90 ms on two busy cores. */
export const LONGEST_TASK_MILLISECONDS = 200;

/** The recorded work of a page, in milliseconds of CPU time of its main thread. */
export interface TaskTrace {
  /** Ends the recording; returns the time of each task. */
  stop(): Promise<number[]>;
  /** Ends the recording; returns the time of the longest task, which blocks input and painting. */
  longest(): Promise<number>;
}

/** Records the work of a page. */
export async function traceTasks(browser: Browser, page: Page): Promise<TaskTrace> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  const stop = async (): Promise<number[]> => tasksOf(await browser.stopTracing());
  return {
    stop,
    longest: async () => {
      const longest = (await stop()).reduce((one, other) => Math.max(one, other), 0);
      // Prints the figure for the docs, on request.
      if (process.env.SVC_PICTURES === 'on') process.stdout.write(`longest task: ${Math.round(longest)} ms\n`);
      return longest;
    },
  };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time of its thread, in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The CPU time of each task of the main thread in milliseconds, since wall time would include other programs. */
function tasksOf(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000);
}
