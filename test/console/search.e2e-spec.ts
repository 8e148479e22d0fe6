import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { eventually } from '../../testing/eventually';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed, expectReadable, keepPicture, OPERATOR, SCREENS } from '../support/console';
import { LONGEST_TASK_MILLISECONDS, traceTasks } from '../support/long-tasks';

const HEIGHTS = 1_200;
const HOSTILE = `O'Hara <b>"$(id)"</b>`;
const LIMITED = { userName: 'limited', password: 'a long password' };

const observation = (index: number): object => ({
  request: { method: 'PUT', url: `Observation/o${index}` },
  resource: {
    resourceType: 'Observation',
    id: `o${index}`,
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '8302-2', display: 'Body height' }] },
    subject: { reference: index < 30 ? 'Patient/p1' : 'Patient/p2' },
    effectiveDateTime: `20${String(10 + (index % 10))}-01-01`,
    valueQuantity: { value: 100 + index / 10, unit: 'cm', system: 'http://unitsofmeasure.org', code: 'cm' },
  },
});

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the search lab of the console', () => {
  let bed: ConsoleBed;

  beforeAll(async () => {
    bed = await ConsoleBed.start();
    const { app } = bed;
    await app.put('/Patient/p1', { name: [{ family: HOSTILE }], gender: 'female' });
    await app.put('/Patient/p2', { name: [{ family: 'Rivera' }], gender: 'male' });
    await app.put('/User/limited', LIMITED);
    await app.put('/AccessPolicy/limited', {
      engine: 'allow',
      link: [{ resourceType: 'User', id: 'limited' }],
      criteria: 'Observation?patient=Patient/p1',
    });
    for (let from = 0; from < HEIGHTS; from += 400) {
      const entry = Array.from({ length: 400 }, (_none, index) => observation(from + index));
      expect((await app.post('/fhir', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    }
    const database = await app.connect();
    await database.query('analyze');
  }, 120_000);
  afterAll(() => bed.close());

  const nameOf = (page: Page, place: number) => page.getByRole('combobox', { name: `Name of parameter ${place}` });
  const valueOf = (page: Page, place: number) => page.getByRole('combobox', { name: `Value of parameter ${place}` });
  const typeOf = (page: Page) => page.getByRole('combobox', { name: 'Resource type' });
  const tabOf = (page: Page, name: string | RegExp) => page.getByRole('tab', { name });
  const run = async (page: Page, search: string): Promise<void> => {
    await typeOf(page).fill(search);
    await page.getByRole('button', { name: 'Run' }).click();
  };

  it.each(SCREENS)(
    'completes names, runs a search, and shows its plan, %s',
    async (screen) => {
      const tab = await bed.signIn(OPERATOR, screen);
      const { page } = tab;
      await tab.go('search');
      await page.getByText('Nothing was searched yet').waitFor();
      await expectReadable(page);
      // Enters the search by keyboard only: the type, a chain by completion, a value, and Enter.
      await page.keyboard.press('/');
      await page.keyboard.type('Obs');
      await page.getByRole('option', { name: 'Observation', exact: true }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await typeOf(page).inputValue()).toBe('Observation');
      await nameOf(page, 1).focus();
      await page.keyboard.type('subject:Pat');
      await page.getByRole('option', { name: /^subject:Patient\./ }).waitFor();
      await expectReadable(page);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.keyboard.type('fam');
      await page.getByRole('option', { name: /^subject:Patient\.family/ }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await nameOf(page, 1).inputValue()).toBe('subject:Patient.family');
      await page.keyboard.press('Tab');
      await page.keyboard.type("O'H");
      await nameOf(page, 2).fill('_sort');
      await valueOf(page, 2).fill('-da');
      await page.getByRole('option', { name: /^-date/ }).click();
      await valueOf(page, 2).press('Enter');
      await tabOf(page, 'Matches (30)').waitFor();
      // The URL contains no values, since they may be patient data.
      expect(await page.evaluate('location.hash')).toBe('#/search/Observation');
      await page
        .getByRole('row', { name: /o\d+ .*Body height/ })
        .first()
        .waitFor();
      await expectReadable(page);
      await keepPicture(page, `search-matches-${screen}`);
      await page
        .getByRole('row', { name: /Body height/ })
        .first()
        .click();
      await page.getByRole('dialog').getByText('"Observation"').waitFor();
      await expectReadable(page);
      await page.keyboard.press('Escape');

      await tabOf(page, 'Plan').click();
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByText('most expensive').waitFor();
      expect(await plan.getByText(/^search_string_/).count()).toBeGreaterThan(0);
      expect(await plan.getByText('Patient.family', { exact: true }).count()).toBeGreaterThan(0);
      // A node expands to its conditions, which show parameter names instead of ids.
      const node = plan.locator('summary', { hasText: 'Patient.family' }).first();
      await node.click();
      await plan.locator('mark', { hasText: 'Patient.family' }).first().waitFor();
      const shown = await plan.locator('summary').count();
      await page.getByLabel(/that never ran/).check();
      expect(await plan.locator('summary').count()).toBeGreaterThan(shown);
      await page.getByLabel(/that never ran/).uncheck();
      await expectReadable(page);
      await page.evaluate(`document.querySelector('[data-tab=plan]').scrollIntoView()`);
      await keepPicture(page, `search-plan-${screen}`);
      await tabOf(page, 'SQL').click();
      await page.getByText('search_string').first().waitFor();
      await expectReadable(page);
      // Types the whole search into the field of the type. The text after "?" becomes parameters.
      await page.getByRole('button', { name: 'Remove parameter 1' }).click();
      await page.getByRole('button', { name: 'Remove parameter 1' }).click();
      // A removal moves the focus in the next frame.
      await eventually('a field has the focus', () =>
        page.evaluate<boolean>(`document.activeElement.closest('[data-name]') !== null`),
      );
      await typeOf(page).focus();
      await page.keyboard.type('Observation?code=8302-2&_sort=-date');
      await page.keyboard.press('Enter');
      await tabOf(page, 'Matches (1,200)').or(tabOf(page, 'Matches (1200)')).waitFor();
      expect([await nameOf(page, 1).inputValue(), await valueOf(page, 2).inputValue()]).toEqual(['code', '-date']);
      expect(tab.complaints).toEqual([]);
    },
    120_000,
  );

  it.each(['desktop', 'phone'] as const)(
    'prints the same search for curl and for the client, with a placeholder for the token, %s',
    async (screen) => {
      const tab = await bed.signIn(OPERATOR, screen);
      const { page } = tab;
      const issued: Promise<string>[] = [];
      page.on('request', (request) =>
        issued.push(request.allHeaders().then(({ authorization = '' }) => authorization)),
      );
      await tab.go('search/Observation');
      await nameOf(page, 1).fill('subject:Patient.family:exact');
      await valueOf(page, 1).fill(HOSTILE);
      await nameOf(page, 2).fill('_count');
      await valueOf(page, 2).fill('7');
      await page.getByRole('button', { name: 'Run' }).click();
      await tabOf(page, 'Matches (30)').waitFor();
      await tabOf(page, 'As a call').click();
      await expectReadable(page);
      if (screen === 'desktop') await keepPicture(page, 'search-calls-desktop');
      const [curl = '', code = ''] = await page.locator('.code pre').allInnerTexts();
      expect(curl).toContain('$TOKEN');
      expect(code).toContain(`'subject:Patient.family:exact': 'O\\'Hara <b>"$(id)"</b>'`);
      const tokens = (await Promise.all(issued))
        .map((header) => header.replace('Bearer ', ''))
        .filter((one) => one !== '');
      expect(tokens.length).toBeGreaterThan(0);
      for (const token of tokens) expect((await page.content()).includes(token)).toBe(false);
      // The server runs in this process, so curl must not block it.
      const environment = { ...process.env, TOKEN: tokens.at(-1) };
      const { stdout } = await promisify(execFile)('bash', ['-c', curl], { env: environment });
      const { total, entry } = JSON.parse(stdout) as { total: number; entry: unknown[] };
      expect([total, entry.length]).toEqual([30, 7]);
    },
    60_000,
  );

  it('reads a pasted search, and scrolls through all its pages', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await tab.go('search');
    await typeOf(page).fill(`${bed.app.url}/fhir/Observation?code=http://loinc.org%7C8302-2&_count=200`);
    expect([
      await typeOf(page).inputValue(),
      await nameOf(page, 1).inputValue(),
      await valueOf(page, 1).inputValue(),
    ]).toEqual(['Observation', 'code', 'http://loinc.org|8302-2']);
    await page.getByRole('button', { name: 'Run' }).click();
    const table = page.getByRole('grid', { name: 'Matches' });
    await table.waitFor();
    await page.getByText('1,200 matches').waitFor();
    await table.focus();
    const isAtEnd = (): Promise<boolean> =>
      page.evaluate<boolean>(
        `Number([...document.querySelectorAll('[role=row]')].at(-1).getAttribute('aria-rowindex')) === ${HEIGHTS + 1}`,
      );
    await eventually('the last row is there', async () => {
      await page.keyboard.press('End');
      return isAtEnd();
    });
    // Only visible rows are rendered.
    expect(await page.locator('[role=row]').count()).toBeLessThan(80);
  }, 60_000);

  it('shows the error of an invalid search, and explains an empty result', async () => {
    const tab = await bed.signIn();
    const { page } = tab;
    await tab.go('search');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Name a resource type, such as Patient.').waitFor();
    await run(page, 'Patient?surname=Rivera');
    await page.getByRole('alert').getByText('surname').waitFor();
    await expectReadable(page);
    await run(page, 'Patient?family=Nobody');
    await page.getByText('No Patient matches').waitFor();
    await run(page, 'Encounter?_count=5');
    await page.getByText('No Encounter matches').waitFor();
    // A corrected search runs after an error, on the same page.
    await run(page, 'Patient?family=Rivera');
    await tabOf(page, 'Matches (1)').waitFor();
  }, 60_000);

  it('shows only granted matches to a limited reader, and no plan', async () => {
    const tab = await bed.signIn(LIMITED);
    const { page } = tab;
    await tab.go('search');
    await run(page, 'Observation?code=8302-2');
    await tabOf(page, 'Matches (30)').waitFor();
    await tabOf(page, 'Plan').click();
    await page.getByText('No policy lets you see the plan.').waitFor();
    await run(page, 'Patient?family=Rivera');
    await page.getByText('No Patient matches').or(page.getByText('No policy lets you see the search.')).waitFor();
  }, 60_000);

  it('finds a resource of 5 MB, and opens its JSON', async () => {
    const extension = Array.from({ length: 36_000 }, (_none, index) => ({
      url: 'urn:pixel',
      valueString: `${'x'.repeat(100)} ${index}`,
    }));
    const large = { resourceType: 'Basic', code: { text: 'Scan' }, extension };
    expect((await bed.app.put('/fhir/Basic/large', large)).status).toBe(201);
    const tab = await bed.operatorTab();
    const { page } = tab;
    const trace = await traceTasks(bed.browser, page);
    await tab.go('search');
    await page.getByRole('combobox', { name: 'Resource type' }).fill('Basic');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('row', { name: /large/ }).click({ timeout: 60_000 });
    const json = page.getByRole('dialog').getByRole('region');
    await json.getByText('"Scan"').waitFor({ timeout: 60_000 });
    await json.focus();
    await page.keyboard.press('End');
    await json.getByText(/ 35999"/).waitFor();
    const tasks = await trace.stop();
    expect(tasks.filter((milliseconds) => milliseconds > LONGEST_TASK_MILLISECONDS)).toEqual([]);
  });
});
