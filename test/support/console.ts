import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { source as axeSource } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { startTestApp, type TestApp, type TestAppOptions } from '../../testing/test-app';
import { CHROMIUM_IS_MISSING, chromiumPath } from './chromium';

/** The User who signs in to the console in specs. A policy allows this User everything. */
export const OPERATOR = { userName: 'operator', password: 'a long password of the operator' };

const VIEWPORTS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
} as const;
export type Screen = keyof typeof VIEWPORTS;
/** The screens of a spec for `it.each`. A spec uses both if its page has another layout on a phone. */
export const SCREENS = ['desktop', 'phone'] as const satisfies readonly Screen[];

/** The Client that docs/console.md adds to an external database. */
const CLIENT = { grant_types: ['password'], auth: { password: { token_expiration: 600, refresh_token: true } } };

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** The browser tab with the console. */
export interface ConsoleTab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Reports of the browser: errors, refusals of the Content-Security-Policy, failed requests. */
  readonly complaints: string[];
  /** Opens a page by its address after `#/`, without a reload. */
  go(path: string): Promise<void>;
}

/**
 * A server with the console, and Chromium. All tests of a file use one tab: to load the console again takes 0.15 s of
 * CPU time, a new tab 1 s.
 */
export class ConsoleBed {
  private constructor(
    readonly app: TestApp,
    readonly browser: Browser,
    private readonly tab: ConsoleTab,
  ) {}

  static async start(options: TestAppOptions = {}): Promise<ConsoleBed> {
    const executablePath = chromiumPath();
    if (executablePath === undefined) throw new Error(CHROMIUM_IS_MISSING);
    const app = await startTestApp(options);
    await app.put('/Client/console', CLIENT);
    await app.put('/User/operator', { name: { formatted: 'Olga Operator' }, ...OPERATOR });
    await app.put('/AccessPolicy/operator', { engine: 'allow', link: [{ resourceType: 'User', id: 'operator' }] });
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    return new ConsoleBed(app, browser, await newTab(browser));
  }

  /**
   * The tab of the operator at the overview, with what the tests before entered and read. It is loaded only if the
   * operator is not signed in. A test that needs a new document uses {@link signIn}.
   */
  async operatorTab(screen: Screen = 'desktop'): Promise<ConsoleTab> {
    const { tab } = this;
    const user = tab.page.locator('.menu-user', { hasText: 'Olga Operator' });
    if ((await user.count()) === 0) return this.signIn(OPERATOR, screen);
    await this.reset(screen);
    await tab.go('overview');
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    tab.complaints.length = 0;
    return tab;
  }

  /**
   * Loads the console, at its sign-in. The browser then has nothing of the tests before.
   * @param origin where it is served, if not by the server itself
   */
  async open(screen: Screen = 'desktop', origin = this.app.url): Promise<ConsoleTab> {
    const { tab } = this;
    await this.reset(screen);
    if (tab.page.url() !== 'about:blank') await tab.page.evaluate('localStorage.clear()');
    tab.complaints.length = 0;
    await tab.page.goto(`${origin}/console/`);
    return tab;
  }

  /** Loads the console and signs in. */
  async signIn(
    { userName, password } = OPERATOR,
    screen: Screen = 'desktop',
    origin = this.app.url,
  ): Promise<ConsoleTab> {
    const tab = await this.open(screen, origin);
    await fillSignIn(tab.page, userName, password);
    await tab.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return tab;
  }

  /** Sets the screen, and ends what the test before did by events of the page. */
  private async reset(screen: Screen): Promise<void> {
    this.tab.page.removeAllListeners('request').removeAllListeners('response');
    await this.tab.page.setViewportSize(VIEWPORTS[screen]);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.app.close();
  }
}

async function newTab(browser: Browser): Promise<ConsoleTab> {
  const context = await browser.newContext({ colorScheme: 'light' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const go = async (path: string): Promise<void> => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
  };
  return { page, context, complaints, go };
}

export async function fillSignIn(page: Page, userName: string, password: string): Promise<void> {
  await page.getByLabel('User name or email').fill(userName);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const RULES = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";
/** The rules of {@link RULES} that check colors. */
const COLOR_RULES = "['color-contrast', 'link-in-text-block']";

/** Fails for barriers that axe finds in the dark or the light scheme, and for content that is cut off at the side. */
export async function expectReadable(page: Page): Promise<void> {
  // Axe has 600 kB, so each document loads it only once.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(`${axeSource}; undefined`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoBarriers(page, 'dark', COLOR_RULES);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectNoBarriers(page, 'light', RULES);
  const [content, width] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBeLessThanOrEqual(width);
}

async function expectNoBarriers(page: Page, scheme: string, rules: string): Promise<void> {
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ runOnly: ${rules}, resultTypes: ['violations'] })`);
  const found = violations.map(({ id, nodes }) => [scheme, id, nodes.map(({ html }) => html)]);
  expect(found).toEqual([]);
}

export const KEEPS_PICTURES = process.env.SVC_PICTURES === 'on';

/** With `SVC_PICTURES=on`, stores a screenshot of the page in docs/images/console. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!KEEPS_PICTURES) return;
  const path = join('docs', 'images', 'console', `${name}.png`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await page.screenshot());
}
