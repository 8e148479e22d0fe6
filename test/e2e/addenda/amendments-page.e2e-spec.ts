import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { source as axeSource } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { storeAmendedRecord } from '../../support/amended-record';
import { CHROMIUM_IS_MISSING, chromiumPath, mayGoWithoutChromium } from '../../support/chromium';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  readonly passes: readonly { readonly id: string }[];
}

/** The width of a large screen, of a page at 400 % zoom (WCAG 2.2, 1.4.10), and of A4 at 96 dpi. */
const SCREENS = [
  ['wide', { width: 1200, height: 800 }, {}],
  ['narrow', { width: 320, height: 640 }, {}],
  ['dark', { width: 800, height: 800 }, { colorScheme: 'dark' }],
  ['paper', { width: 794, height: 1123 }, { media: 'print' }],
] as const;

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the page of $amendments in Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const requested: string[] = [];

  beforeAll(async () => {
    const executablePath = chromiumPath();
    if (executablePath === undefined) throw new Error(CHROMIUM_IS_MISSING);
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    app = await startTestApp();
    await storeAmendedRecord(app, 'vitals-7');
    await storeAmendedRecord(app, 'forged');
    const database = await app.connect();
    await database.query('set session_replication_role = replica');
    await database.query(
      `update resource set body = replace(body, 'Cuff too small?', 'Cuff was right') where type = 'SDCAddendum'
       and body like '%"forged"%'`,
    );
    await database.end();
    context = await browser.newContext({ extraHTTPHeaders: { Authorization: ROOT } });
    page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  const open = async (id: string): Promise<void> => {
    const answer = await page.goto(`${app.url}/SDCDocument/${id}/$amendments`);
    expect(answer?.headers()['content-type']).toBe('text/html; charset=utf-8');
  };

  describe.each(SCREENS)('on a %s screen', (_name, viewport, media) => {
    it.each(['vitals-7', 'forged'])(
      '%s has no accessibility violations and fits the screen',
      async (id) => {
        await page.emulateMedia({ media: null, colorScheme: null, ...media });
        await page.setViewportSize(viewport);
        await open(id);
        const { violations, passes } = await page.evaluate<AxeResults>(`${axeSource}; axe.run()`);
        expect(violations.map(({ id: rule, nodes }) => [rule, nodes.map(({ html }) => html)])).toEqual([]);
        expect(passes.map(({ id: rule }) => rule)).toEqual(
          expect.arrayContaining(['color-contrast', 'document-title', 'html-has-lang', 'landmark-one-main', 'region']),
        );
        // The page is not wider than the screen.
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
      },
      60_000,
    );

    it('shows the state of the chain, the values, the author and the recorder', async () => {
      await open('vitals-7');
      const shown = await page.evaluate<string>('document.body.innerText');
      for (const text of [
        'Intact: all 8 addenda are as recorded',
        'Systolic blood pressure',
        '118 mm[Hg]',
        '128 mm[Hg]',
        'Dr. Ada Okafor',
        'recorded by Client/root',
        'UTC',
      ]) {
        expect(shown).toContain(text);
      }
      const picture = await page.screenshot({ fullPage: true });
      // A blank picture of this size is a few kB.
      expect(picture.length).toBeGreaterThan(40_000);
    }, 60_000);
  });

  it('the $amendments page has headings in order, and header cells in each table', async () => {
    await open('vitals-7');
    const levels = await page.evaluate<number[]>(
      `[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => Number(one.tagName[1]))`,
    );
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.every((level, index) => level - (levels[index - 1] ?? 0) <= 1)).toBe(true);
    const tables = await page.evaluate<[string, string[]][]>(
      `[...document.querySelectorAll('table')].map((one) => [one.caption.textContent, [...one.querySelectorAll('thead th')].map((th) => th.scope + ' ' + th.textContent)])`,
    );
    expect(tables[1]).toEqual(['Changes from revision 1 to revision 2', ['col Field', 'col Before', 'col After']]);
    expect(await page.locator('del', { hasText: '118' }).count()).toBe(1);
    expect(await page.locator('ins', { hasText: '128' }).count()).toBe(1);
    // The temperature is the same number with other digits, so it is not marked as a change.
    expect(await page.locator('del, ins', { hasText: '37.2' }).count()).toBe(0);
    expect(await page.locator('td', { hasText: '37.20' }).count()).toBeGreaterThan(0);
    expect(await page.locator('tbody th[scope=row]').count()).toBe(await page.locator('tbody tr').count());
  }, 60_000);

  it('the $amendments page shows first that a record was changed', async () => {
    await open('forged');
    const heading = page.getByRole('heading', { level: 2 }).first();
    expect(await heading.textContent()).toBe('NOT INTACT: this record was changed after it was made');
    expect(await page.getByRole('alert').textContent()).toContain(
      'The text of the addendum is not the one that was recorded.',
    );
  }, 60_000);

  it('the $amendments page loads no other resource, and violates no rule of its Content-Security-Policy', () => {
    expect(requested.filter((url) => !url.endsWith('/$amendments') && !url.endsWith('/favicon.ico'))).toEqual([]);
    expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
  });
});
