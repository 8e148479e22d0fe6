import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed, type ConsoleTab, expectReadable, keepPicture, OPERATOR, SCREENS } from '../support/console';
import { loadChart, type LoadedChart } from '../support/load-chart';
import { storeLongChart } from '../support/long-chart';
import { traceTasks } from '../support/long-tasks';

const NURSE = { userName: 'nurse', password: 'a long password of the nurse' };
const MARKUP = '<img src=x onerror=alert(1)><b>bold</b>';
const LONG = 100_000;

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the page of patients in Chromium', () => {
  let bed: ConsoleBed;
  let chart: LoadedChart;

  const store = async (
    type: string,
    id: string,
    members: string,
    expected: readonly number[] = [201],
  ): Promise<void> => {
    const { status, text } = await bed.app.put(
      `/fhir/${type}/${id}`,
      `{"resourceType":"${type}","id":"${id}",${members}}`,
    );
    if (!expected.includes(status)) throw new Error(text);
  };

  beforeAll(async () => {
    bed = await ConsoleBed.start();
    chart = await loadChart(bed.app, { seed: 7, size: 120, idPrefix: 'c-' });
    await store(
      'Patient',
      'ana',
      `"name":[{"family":"Rivera","given":["Ana"]}],"birthDate":"1980-02-03","gender":"female",
       "identifier":[{"system":"urn:mrn","value":"778812"}]`,
    );
    await store(
      'Encounter',
      'visit',
      '"status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/ana"}',
    );
    const potassium = (value: string, more = ''): string =>
      `"status":"final","code":{"text":"Potassium"},"subject":{"reference":"Patient/ana","display":"Ana Rivera"},
       "encounter":{"reference":"Encounter/visit"},"effectiveDateTime":"2026-03-04T08:00:00Z",
       "valueQuantity":{"value":${value},"unit":"mmol/L"}${more}`;
    await store('Observation', 'k', potassium('4.10'));
    await store('Observation', 'k', potassium('4.70', ',"note":[{"text":"Read again"}]'), [200]);
    await store('Observation', 'k', potassium('4.7', ',"note":[{"text":"Read again"}]'), [200]);
    await store(
      'Observation',
      'marked',
      `"status":"final","code":{"text":${JSON.stringify(MARKUP)}},"subject":{"reference":"Patient/ana"},
       "valueString":${JSON.stringify(MARKUP)}`,
    );
    await bed.app.put('/User/nurse', NURSE);
    await bed.app.put('/AccessPolicy/nurse', {
      engine: 'matcho',
      matcho: { uri: '#^/auth|^(/fhir)?/(Patient|Encounter)(/.*)?$' },
      link: [{ resourceType: 'User', id: 'nurse' }],
    });
  }, 240_000);
  afterAll(() => bed.close());

  const entryOf = (page: Page, text: string) => page.getByRole('option').filter({ hasText: text });
  const settled = async (page: Page): Promise<void> => {
    await page.getByText(/all that belongs to this patient/).waitFor({ timeout: 60_000 });
  };
  const openRecord = async (tab: ConsoleTab, path: string): Promise<void> => {
    await tab.go(path);
    await tab.page.getByRole('heading', { level: 1 }).waitFor();
  };

  describe.each(SCREENS)('on a %s screen', (screen) => {
    it('finds a patient by name and birth date, and shows the record', async () => {
      const tab = await bed.signIn(OPERATOR, screen);
      const { page } = tab;
      await tab.go('patients');
      await page.getByRole('grid', { name: 'Patients' }).waitFor();
      await expectReadable(page);
      await keepPicture(page, `patients-${screen}`);
      await page.keyboard.press('/');
      await page.keyboard.type('rivera 1980-02-03');
      await page.getByText('Patients with name “rivera” and born 1980-02-03').waitFor();
      await page.getByText('1 patient', { exact: true }).waitFor();
      await page.getByRole('grid', { name: 'Patients' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Ana Rivera', level: 1 }).waitFor();
      expect(await page.getByRole('link', { name: 'Who may read it?' }).getAttribute('href')).toBe(
        '#/access?request=GET+%2Ffhir%2FPatient%2Fana',
      );
      await settled(page);
      await expectReadable(page);
      await entryOf(page, 'Potassium').click();
      const resource = page.getByRole('region', { name: /Observation k/ });
      await resource.getByText('4.7 mmol/L').waitFor();
      await resource.getByText('In the compartment by Observation.subject').waitFor();
      await expectReadable(page);
      for (const view of ['JSON', 'History', 'References']) {
        await page.getByRole('tab', { name: view }).click();
        await page
          .getByText({ JSON: '"versionId"', History: 'From', References: 'What refers to it' }[view] ?? '')
          .first()
          .waitFor();
        await expectReadable(page);
      }
      expect(tab.complaints).toEqual([]);
    }, 120_000);

    it('shows a long record', async () => {
      const tab = await bed.operatorTab(screen);
      const { page } = tab;
      await openRecord(tab, `patients/${chart.patientId}`);
      await settled(page);
      await keepPicture(page, `patient-${screen}`);
      await expectReadable(page);
      const encounter = page.getByRole('option').filter({ hasText: 'Encounter' }).first();
      await encounter.click();
      await page.getByText('In the compartment by Encounter.patient').waitFor();
      if (screen === 'phone') await keepPicture(page, 'patient-resource-phone');
      await expectReadable(page);
    }, 120_000);
  });

  it.each([
    ['urn:mrn|778812', 'ana'],
    ['778812', 'ana'],
    ['Patient/ana', 'ana'],
    ['03.02.1980 ana', 'ana'],
  ])(
    'finds the patient by %s',
    async (text, id) => {
      const tab = await bed.operatorTab();
      const { page } = tab;
      await tab.go('patients');
      const search = page.getByLabel('Search', { exact: true });
      await search.fill(''); // the page keeps what the test before entered
      await page.getByText('The latest patients').waitFor();
      await search.fill(text);
      await page.getByText('1 patient', { exact: true }).waitFor();
      await page.getByRole('gridcell', { name: id, exact: true }).waitFor();
      // The typed text may be a name, so no URL contains it.
      expect(page.url()).toMatch(/#\/patients$/);
    },
    60_000,
  );

  it('combines separate fields, and explains an empty result', async () => {
    const tab = await bed.signIn();
    const { page } = tab;
    await tab.go('patients');
    await page.getByText('Separate fields').click();
    await page.getByLabel('Name', { exact: true }).fill('rivera');
    await page.getByLabel('Birth date').fill('1980');
    await page.getByText('1 patient', { exact: true }).waitFor();
    await page.getByLabel('Identifier', { exact: true }).fill('nobody-1');
    await page.getByText('No patient matches').waitFor();
  }, 60_000);

  it('lists exactly the patient compartment, filtered by type and sorted by date', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, `patients/${chart.patientId}`);
    await settled(page);
    const counts = new Map<string, number>();
    for (const { resourceType, inPatientCompartment } of chart.resources)
      if (inPatientCompartment) counts.set(resourceType, (counts.get(resourceType) ?? 0) + 1);
    const more = page.getByRole('button', { name: /\d+ more/ });
    if (await more.isVisible()) await more.click();
    const shown = await page.getByRole('group', { name: 'Types shown' }).getByRole('button').allTextContents();
    const listed = new Map(
      shown.flatMap((text) => {
        const [, type = '', count] = /^(\S+) ([\d,]+)$/.exec(text) ?? [];
        return count === undefined ? [] : [[type, Number(count)] as const];
      }),
    );
    expect(Object.fromEntries([...listed].sort())).toEqual(Object.fromEntries([...counts].sort()));

    await page.getByRole('button', { name: /^Encounter \d/ }).click();
    const list = page.getByRole('listbox');
    const rows = await list.getByRole('option').allTextContents();
    expect(rows.length).toBe(counts.get('Encounter'));
    expect(rows.every((row) => row.includes('Encounter'))).toBe(true);
    const months = await list.getByText(/^[A-Z]\w+ \d{4} \d+$/).allTextContents();
    expect(months.length).toBeGreaterThan(1);
    const asDate = (text: string): number => Date.parse(`1 ${text.replace(/ \d+$/, '')} UTC`);
    expect(months.map(asDate)).toEqual([...months.map(asDate)].sort((one, other) => other - one));
  }, 60_000);

  it('shows the difference between any two versions, with the digits of each', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'patients/ana/Observation/k?view=history');
    const difference = page.getByRole('region', { name: 'Difference' });
    await difference.getByText('1 field differs from version 2 to 3').waitFor();
    expect(await difference.getByRole('row').nth(1).textContent()).toContain('same number, other digits');
    await page.getByLabel('From', { exact: true }).selectOption('1');
    await page.getByLabel('To', { exact: true }).selectOption('2');
    await difference.getByText('2 fields differ from version 1 to 2').waitFor();
    expect(await difference.locator('del').allTextContents()).toEqual(['4.10 mmol/L']);
    expect(await difference.locator('ins').allTextContents()).toEqual(['4.70 mmol/L', 'Read again']);
  }, 60_000);

  it('follows references in both directions', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'patients/ana/Encounter/visit?view=references');
    const incoming = page.getByRole('region', { name: 'What refers to it' });
    await incoming.getByText(/1 resource, found by/).waitFor({ timeout: 30_000 });
    expect(await incoming.getByRole('listitem').allTextContents()).toEqual([
      'encounterObservation/kPotassium · 4.7 mmol/L',
    ]);
    await incoming.getByRole('link', { name: 'Observation/k' }).click();
    await page.getByRole('tab', { name: 'References' }).click();
    const outgoing = page.getByRole('region', { name: 'What it refers to' });
    await outgoing.getByRole('link', { name: 'Encounter/visit' }).click();
    await page.getByRole('heading', { name: 'Encounter visit' }).waitFor();
  }, 90_000);

  it('shows markup as text', async () => {
    await store('Patient', 'marked', `"name":[{"family":${JSON.stringify(MARKUP)}}],"birthDate":"1980-02-03"`);
    const tab = await bed.signIn();
    const { page } = tab;
    await tab.go('patients');
    await page.getByText(MARKUP).waitFor();
    await openRecord(tab, 'patients/ana/Observation/marked');
    await entryOf(page, MARKUP).waitFor();
    await page
      .getByRole('region', { name: /Observation marked/ })
      .getByText(MARKUP)
      .first()
      .waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(tab.complaints).toEqual([]);
    await bed.app.delete('/fhir/Patient/marked');
  }, 60_000);

  it('names the types that the user may not see, and links the decision', async () => {
    const tab = await bed.signIn(NURSE);
    const { page } = tab;
    await openRecord(tab, 'patients/ana');
    await page.getByText(/Types that you may not search are left out: .*Observation/).waitFor({ timeout: 30_000 });
    expect(await entryOf(page, 'Potassium').count()).toBe(0);
    await entryOf(page, 'Encounter').waitFor();
    await tab.go('patients/ana/Observation/k');
    const refused = page.getByRole('alert').filter({ hasText: 'Observation/k' });
    await refused.waitFor();
    expect(await refused.getByRole('link', { name: 'Why it was refused' }).getAttribute('href')).toMatch(
      /^#\/access\?decision=./,
    );
    expect(await page.content()).not.toContain('4.7');
    await expectReadable(page);
  }, 60_000);

  it('shows why the next page of a list failed, and requests it again only on demand', async () => {
    const entry = Array.from({ length: 120 }, (_, at) => ({
      resource: { resourceType: 'Patient', name: [{ family: `Paged ${at}` }] },
      request: { method: 'POST', url: 'Patient' },
    }));
    expect((await bed.app.post('/fhir', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    const { page } = await bed.signIn(NURSE);
    await page.evaluate(`location.hash = '#/patients'`);
    const table = page.getByRole('grid', { name: 'Patients' });
    await table.waitFor();
    const policy = (await bed.app.get('/AccessPolicy/nurse')).text;
    await bed.app.delete('/AccessPolicy/nurse');
    const pages: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/fhir/Patient?')) pages.push(request.url());
    });
    await table.evaluate((element: { scrollHeight: number; scrollTop: number }) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByRole('alert').filter({ hasText: 'No policy lets you see the patients' }).waitFor();
    await page.waitForTimeout(500);
    expect(pages).toHaveLength(1);
    await page.getByText(/^50 of \d+ patients/).waitFor();
    await bed.app.put('/AccessPolicy/nurse', policy);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(/^100 of \d+ patients/).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  }, 60_000);

  it('shows a resource of 5 MB without a long task', async () => {
    await store(
      'Basic',
      'large',
      `"code":{"text":"Scan"},"subject":{"reference":"Patient/ana"},"extension":[${Array.from(
        { length: 30_000 },
        (_, index) => `{"url":"urn:pixel","valueString":"${'x'.repeat(100)} ${index}"}`,
      ).join(',')},{"url":"urn:data","valueString":"${'y'.repeat(900_000)}"}]`,
    );
    const tab = await bed.operatorTab();
    const { page } = tab;
    await tab.go('overview');
    const trace = await traceTasks(bed.browser, page);
    await openRecord(tab, 'patients/ana/Basic/large');
    await page.getByText('Scan').first().waitFor({ timeout: 60_000 });
    await page.getByRole('tab', { name: 'JSON' }).click();
    const json = page.getByRole('region', { name: 'JSON of Basic/large' });
    await json.waitFor({ timeout: 60_000 });
    await json.focus();
    await page.keyboard.press('End');
    await page.getByText('more characters').or(json.getByText('urn:data')).first().waitFor();
    expect(await trace.longest()).toBeLessThan(600); // measured: 109 to 113 ms
    await bed.app.delete('/fhir/Basic/large');
  });

  it('continues after the Session ended, with the entered text', async () => {
    const tab = await bed.signIn();
    const { page } = tab;
    await tab.go('patients');
    await page.getByLabel('Search', { exact: true }).fill('rivera');
    await page.getByText('1 patient', { exact: true }).waitFor();
    for (const { resource } of (await bed.app.get('/fhir/Session?active=true&user=User/operator')).json<{
      entry: { resource: { id: string } }[];
    }>().entry)
      await bed.app.delete(`/fhir/Session/${resource.id}`);
    await page.getByRole('grid', { name: 'Patients' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await page.getByLabel('Password').fill(OPERATOR.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Ana Rivera', level: 1 }).waitFor();
    await settled(page);
    await page.getByRole('link', { name: '← All patients' }).click();
    expect(await page.getByLabel('Search', { exact: true }).inputValue()).toBe('rivera');
  }, 90_000);

  describe(`a patient with ${LONG} resources`, () => {
    beforeAll(async () => {
      await store('Patient', 'long', '"name":[{"family":"Long"}]');
      await storeLongChart(bed.app, 'long', LONG);
    }, 240_000);

    it('streams in, scrolls without a long task, and can be stopped', async () => {
      const tab = await bed.operatorTab();
      const { page } = tab;
      await tab.go('overview');
      const trace = await traceTasks(bed.browser, page);
      await openRecord(tab, 'patients/long');
      await page.getByText(/Reading… [\d,]+ resources so far/).waitFor();
      await entryOf(page, 'Heart rate · 71.50 /min').first().waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText(/Stopped at [\d,]+ resources: the list is not complete/).waitFor();
      await page.getByRole('button', { name: 'Read again' }).click();
      await page.getByText(/100,002 resources, all that/).waitFor({ timeout: 150_000 });
      const list = page.getByRole('listbox');
      for (let step = 0; step < 20; step++) {
        await page.evaluate(`(() => {
          const list = document.querySelector('[role=listbox]');
          list.scrollTop = (list.scrollHeight * ${step}) / 20;
        })()`);
        await page.waitForTimeout(50);
      }
      await list.focus();
      await page.keyboard.press('End');
      await entryOf(page, 'Heart rate').last().waitFor();
      await page.keyboard.press('Home');
      await page.getByLabel('Go to a year').selectOption({ index: 5 });
      expect(await page.getByRole('option').count()).toBeLessThan(150);
      expect(await trace.longest()).toBeLessThan(600); // measured: 64 to 158 ms
      const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
      expect(heap).toBeLessThan(300e6); // measured: 40 to 90 MB
    }, 300_000);
  });
});
