import { type Browser, type Page } from 'playwright-core';

/** Measures tasks of the page that block input and painting: those above 50 ms (W3C Long Tasks). */
export async function reportLongTasks(page: Page): Promise<{ longest(): Promise<number> }> {
  await page.evaluate(`
    globalThis.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ entryTypes: ['longtask'] });
  `);
  return {
    longest: async () => {
      const longest = await page.evaluate<number>('Math.max(0, ...longTasks)');
      // Prints the figure for the docs, on request.
      if (process.env.SVC_PICTURES === 'on') process.stdout.write(`longest task: ${Math.round(longest)} ms\n`);
      return longest;
    },
  };
}

/** Records the work of a page; `stop` returns the CPU time of each task of its main thread, in milliseconds. */
export async function traceTasks(browser: Browser, page: Page): Promise<{ stop(): Promise<number[]> }> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  return { stop: async () => tasksOf(await browser.stopTracing()) };
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
