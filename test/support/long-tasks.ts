import { type Page } from 'playwright-core';

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
