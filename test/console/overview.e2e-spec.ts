import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import {
  ConsoleBed,
  type ConsoleTab,
  expectReadable,
  fillSignIn,
  keepPicture,
  KEEPS_PICTURES,
  OPERATOR,
  type Screen,
  SCREENS,
} from '../support/console';
import { eventually } from '../../testing/eventually';
import { destination, newDestination, newTopic } from '../support/destinations';
import { MoodyProxy } from '../support/moody-proxy';

const LIMITED = { userName: 'limited', password: 'a long password of the limited' };
const STATUS = '/fhir/$server-status';

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the overview in Chromium', () => {
  let bed: ConsoleBed;
  let proxy: MoodyProxy;

  beforeAll(async () => {
    bed = await ConsoleBed.start();
    proxy = await MoodyProxy.start(bed.app.url);
    await bed.app.put('/User/limited', LIMITED);
    for (let number = 0; number < 40; number++) await bed.app.put(`/fhir/Patient/p${number}`, {});
    await bed.app.get('/fhir/Patient/p1', { authorization: 'Bearer none' });
    await bed.app.post(
      '/auth/token',
      { grant_type: 'password', client_id: 'console', ...wrong },
      { authorization: null },
    );
  }, 120_000);
  afterAll(async () => {
    await bed.close();
    await proxy.stop();
  });

  afterEach(() => {
    proxy.moodOf = () => ({ kind: 'fair' });
  });

  const wrong = { username: OPERATOR.userName, password: 'wrong' };
  /** Signs in to a page whose clock {@link pass} moves forward. */
  const signIn = async (who = OPERATOR, screen: Screen = 'desktop', origin = bed.app.url): Promise<ConsoleTab> => {
    const tab = await bed.open(screen, origin);
    await tab.page.clock.install();
    await fillSignIn(tab.page, who.userName, who.password);
    await tab.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return tab;
  };
  const pass = (page: Page, seconds: number): Promise<void> => page.clock.runFor(seconds * 1000);
  /**
   * The URLs that the page requests during `work`. A last request of the spec itself shows that all others were
   * reported.
   */
  const requestsWhile = async (page: Page, work: () => Promise<void>): Promise<readonly string[]> => {
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await work();
    const last = page.waitForRequest(/\?last$/);
    await page.evaluate(`fetch('/health?last')`);
    await last;
    return urls.slice(0, -1);
  };
  const isLive = (page: Page): Promise<void> => page.getByText('Live, as of').waitFor();
  const figure = async (page: Page, row: string, column: number): Promise<number> =>
    Number((await page.getByRole('row', { name: row }).getByRole('cell').nth(column).innerText()).replaceAll(',', ''));

  describe.each(SCREENS)('on a %s screen', (screen) => {
    it('shows all its parts without accessibility violations', async () => {
      const tab = await signIn(OPERATOR, screen);
      const { page } = tab;
      await isLive(page);
      for (const name of ['Requests by class', 'Server and database', 'Storage'])
        await page.getByRole('heading', { level: 2, name }).waitFor();
      const tiles = await page.getByRole('heading', { level: 3 }).allInnerTexts();
      expect(tiles.slice(0, 8)).toEqual([
        'Requests',
        'Latency',
        'Failures',
        'Webhooks',
        'Logins',
        'Denials',
        'Sessions',
        'Storage',
      ]);
      await pass(page, 5);
      await page.getByRole('img', { name: /^Requests: course of the latest [12] samples/ }).waitFor();
      await expectReadable(page);
      expect(tab.complaints).toEqual([]);
      if (KEEPS_PICTURES) {
        for (let round = 0; round < 12; round++) {
          for (let number = 0; number < 10 + 40 * Math.abs(Math.sin(round)); number++)
            await bed.app.get(`/fhir/Patient/p${number % 40}`);
          await page.waitForTimeout(3000);
        }
        await keepPicture(page, `overview-${screen}`);
      }
    }, 120_000);
  });

  it('updates its figures: counts new reads and refused requests', async () => {
    const tab = await signIn();
    const { page } = tab;
    await isLive(page);
    const before = await figure(page, 'read', 3).catch(() => 0);
    for (let number = 0; number < 30; number++) await bed.app.get(`/fhir/Patient/p${number}`);
    await pass(page, 5);
    await eventually('the reads are counted', async () => (await figure(page, 'read', 3)) === before + 30);
    await page.getByText(/\d+ refused \(4xx\), \d+ cut off/).waitFor();
    await page.getByRole('status').getByText('Healthy').waitFor();
    await newDestination(bed.app, destination(await newTopic(bed.app)));
    await bed.app.put('/fhir/Patient/p1', { active: true });
    await eventually('the webhook fails in the verdict', async () => {
      await pass(page, 5);
      return (await page.getByRole('link', { name: '1 of 1 webhooks fails' }).count()) === 1;
    });
  }, 60_000);

  it('sends no requests while it is paused or hidden', async () => {
    const tab = await signIn();
    const { page } = tab;
    await isLive(page);
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await requestsWhile(page, () => pass(page, 12))).toEqual([]);
    await page.getByRole('button', { name: 'Go on' }).click();
    const resumed = await requestsWhile(page, () => pass(page, 12));
    expect(resumed.filter((url) => url.endsWith(STATUS)).length).toBeGreaterThan(0);
    await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
      window.dispatchEvent(new Event('visibilitychange'));
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
    expect(await requestsWhile(page, () => pass(page, 12))).toEqual([]);
  }, 60_000);

  it('links the decision that refused the status, and shows the public health', async () => {
    const tab = await signIn(LIMITED);
    const { page } = tab;
    await page.getByRole('alert').getByText('Not granted').waitFor();
    await page.getByText('What everybody may see').waitFor();
    await expectReadable(page);
    const href = await page.getByRole('link', { name: 'Why it was refused' }).getAttribute('href');
    const id = /^#\/access\?decision=([\w-]+)$/.exec(href ?? '')?.[1] ?? '';
    expect((await bed.app.get(`/auth/decisions/${id}`)).status).toBe(200);
  }, 60_000);

  it('keeps its figures while the server is unreachable, and updates again afterwards', async () => {
    const tab = await signIn(OPERATOR, 'desktop', proxy.url);
    const { page } = tab;
    await isLive(page);
    proxy.moodOf = () => ({ kind: 'hangs-up' });
    await pass(page, 5);
    await page.getByText('The server cannot be reached since').waitFor();
    await page.getByRole('heading', { name: 'Requests by class' }).waitFor();
    await expectReadable(page);
    proxy.moodOf = () => ({ kind: 'fair' });
    const answer = page.waitForResponse((response) => response.url().endsWith(STATUS) && response.ok());
    await pass(page, 3);
    await page.getByText('The server cannot be reached since').waitFor({ state: 'detached' });
    await pass(page, 5);
    await answer;
    await isLive(page);
  }, 90_000);

  it('shows that it waits for a slow server, and requests a busy one again only after Retry-After', async () => {
    const answers = new AbortController();
    proxy.moodOf = (path) =>
      path.endsWith(STATUS) ? { kind: 'slow', until: once(answers.signal, 'abort') } : { kind: 'fair' };
    const { page } = await signIn(OPERATOR, 'desktop', proxy.url);
    await page.getByText('Waiting for the status of the server').waitFor();
    await pass(page, 6);
    await page.getByText(/The server is slow: waiting for the status of the server for \d+ s/).waitFor();
    answers.abort();
    await isLive(page);
    proxy.moodOf = (path) =>
      path.endsWith(STATUS) ? { kind: 'answers', status: 503, headers: { 'Retry-After': '90' } } : { kind: 'fair' };
    const busy = page.waitForResponse((response) => response.status() === 503);
    await pass(page, 5);
    await busy;
    proxy.moodOf = () => ({ kind: 'fair' });
    // The clock of the page also runs by itself: 65 s are left for a busy machine.
    expect(await requestsWhile(page, () => pass(page, 25))).toEqual([]);
    const answer = page.waitForResponse((response) => response.url().endsWith(STATUS) && response.ok());
    await pass(page, 66);
    await answer;
  }, 90_000);

  describe('tokens that expire or are revoked during work', () => {
    const endSessions = async (): Promise<void> => {
      const { entry } = (await bed.app.get('/Session?active=true&user=User/operator')).json<{
        entry: { resource: { id: string } }[];
      }>();
      expect(entry.length).toBeGreaterThan(0);
      for (const { resource } of entry) {
        await bed.app.send('PATCH', `/Session/${resource.id}`, {
          headers: { 'Content-Type': 'application/merge-patch+json' },
          body: { active: false },
        });
      }
    };

    it('are refreshed without a dialog after they expired', async () => {
      const { text } = await bed.app.get('/Client/console');
      await bed.app.put('/Client/console', text.replace('"token_expiration":600', '"token_expiration":2'));
      const tab = await signIn();
      const { page } = tab;
      await bed.app.put('/Client/console', text);
      let renewed = 0;
      page.on('response', (response) => (renewed += Number(response.url().endsWith('/auth/token') && response.ok())));
      await isLive(page);
      await delay(2000); // real time, since `pass` moves only the clock of the page and not that of the server
      const answer = page.waitForResponse((response) => response.url().endsWith(STATUS) && response.ok());
      await pass(page, 5);
      await answer;
      expect(renewed).toBe(1);
      expect(await page.getByRole('dialog').count()).toBe(0);
    }, 60_000);

    it('open the sign-in dialog over the page after they were revoked, and the page continues after the sign-in', async () => {
      const tab = await signIn();
      const { page } = tab;
      await isLive(page);
      await page.evaluate('document.body.dataset.kept = "this document"');
      await endSessions();
      await pass(page, 5);
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.waitFor();
      await expectReadable(page);
      await keepPicture(page, 'session-ended-desktop');
      const requests = await requestsWhile(page, () => pass(page, 12));
      expect(requests.filter((url) => !url.endsWith('/health'))).toEqual([]); // no call with a dead token
      await page.keyboard.press('Escape');
      expect(await dialog.count()).toBe(1);
      expect(await page.evaluate('document.activeElement.type')).toBe('password');
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await dialog.getByRole('alert').getByText(/\w/).first().waitFor();
      await page.getByLabel('Password').fill(OPERATOR.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'detached' });
      await isLive(page);
      expect(await page.evaluate('document.body.dataset.kept')).toBe('this document');
    }, 60_000);

    it('leave no data of the first User for another User who signs in', async () => {
      const tab = await signIn();
      const { page } = tab;
      await isLive(page);
      await endSessions();
      await pass(page, 5);
      await page.getByRole('dialog').waitFor();
      await fillSignIn(page, LIMITED.userName, LIMITED.password);
      await page.getByText('Not granted').waitFor();
      expect(await page.getByText('Requests by class').count()).toBe(0);
    }, 60_000);
  });
});
