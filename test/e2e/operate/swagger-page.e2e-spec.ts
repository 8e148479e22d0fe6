import { afterAll, beforeAll, expect, it, describe } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { CHROMIUM_IS_MISSING, chromiumPath, mayGoWithoutChromium } from '../../support/chromium';
import { BASE_URL, ROOT_SECRET, startTestApp, type TestApp } from '../../../testing/test-app';
import { eventually } from '../../../testing/eventually';

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'Swagger UI in Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const requested: string[] = [];

  beforeAll(async () => {
    const executablePath = chromiumPath();
    if (executablePath === undefined) throw new Error(CHROMIUM_IS_MISSING);
    app = await startTestApp();
    browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        // The page calls the server's public address. No other name can be resolved, as without a network.
        `--host-resolver-rules=MAP ${new URL(BASE_URL).hostname}:80 ${new URL(app.url).host},MAP * ~NOTFOUND,EXCLUDE 127.0.0.1`,
      ],
    });
    page = await browser.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  it('S8.4: the Swagger page works under its Content-Security-Policy, and requests no other server', async () => {
    await page.goto(`${BASE_URL}/api`);
    await page.locator('button.authorize').first().click();
    // The focus is in the form of the password grant.
    await eventually('the name has the focus', () =>
      page.evaluate<boolean>('document.activeElement.id === "oauth_username"'),
    );
    await page.locator('#auth-basic-username').fill('root');
    await page.locator('#auth-basic-password').fill(ROOT_SECRET);
    await page.locator('#auth-basic-password').press('Enter');
    await page.locator('.modal-ux button.btn-done').first().click();
    const search = page
      .locator('.opblock')
      .filter({ has: page.locator('[data-path="/fhir/{type}"]') })
      .first();
    await search.locator('.opblock-summary').click();
    await search.locator('tr[data-param-name="type"] input').fill('Patient');
    await search.locator('button.execute').click();
    await search.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor();
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(BASE_URL) && !url.startsWith('data:'))).toEqual([]);
  }, 60_000);

  it('S8.6: the Swagger page keeps no credentials after it is closed', async () => {
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).toBe('[{},{}]');
    await page.reload();
    await page.locator('button.authorize.unlocked').first().waitFor();
    expect(await page.locator('button.authorize.locked').count()).toBe(0);
  }, 60_000);
});
