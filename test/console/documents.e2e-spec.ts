import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { call, storeAmendedRecord } from '../support/amended-record';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed, type ConsoleTab, expectReadable, keepPicture, OPERATOR, SCREENS } from '../support/console';
import { traceTasks } from '../support/long-tasks';
import { eventually } from '../../testing/eventually';

const READER = { userName: 'reader', password: 'a long password of the reader' };
const MARKUP = '<img src=x onerror=alert(1)><b>bold</b>';

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the page of signed documents in Chromium', () => {
  let bed: ConsoleBed;

  beforeAll(async () => {
    bed = await ConsoleBed.start();
    const { app } = bed;
    await app.put('/fhir/Patient/p7', { resourceType: 'Patient', name: [{ family: 'Rivera', given: ['Ana'] }] });
    await app.put('/User/plain', { userName: 'plain', name: { givenName: 'Noor', familyName: 'Brandt' } });
    await storeAmendedRecord(app, 'vitals-7');
    await storeAmendedRecord(app, 'forged');
    const database = await app.connect();
    await database.query('set session_replication_role = replica');
    await database.query(
      `update resource set body = replace(body, 'Cuff too small?', 'Cuff was right') where type = 'SDCAddendum'
       and body like '%"forged"%'`,
    );
    await database.query('set session_replication_role = origin');
    // The document is signed by a User without a display name, then changed by an unsigned write. It contains markup.
    const content = `"type":"clinic.forms/Letter","patient":{"resourceType":"Patient","id":"p7"},"body":${JSON.stringify(MARKUP)}`;
    await app.put('/SDCDocument/letter', `{"resourceType":"SDCDocument","id":"letter","status":"draft",${content}}`);
    const user = { resourceType: 'User', id: 'plain' };
    await call(
      app,
      '/sign',
      `{"document":{"resourceType":"SDCDocument","id":"letter",${content}},"user":${JSON.stringify(user)}}`,
    );
    const target = { resourceType: 'SDCDocument', id: 'letter' };
    await call(app, '.addendum/add-note', { target, user, text: MARKUP });
    await app.put(
      '/SDCDocument/letter',
      `{"resourceType":"SDCDocument","id":"letter","status":"completed",${content},"later":1.50}`,
    );
    await app.put('/SDCDocument/draft', { resourceType: 'SDCDocument', status: 'draft', type: 'clinic.forms/Letter' });
    await app.put('/User/reader', READER);
    await app.put('/AccessPolicy/reader', {
      engine: 'matcho',
      matcho: { uri: '#^/auth|^(/fhir)?/SDCDocument(/.*)?$' },
      link: [{ resourceType: 'User', id: 'reader' }],
    });
  }, 120_000);
  afterAll(() => bed.close());

  const openRecord = async (tab: ConsoleTab, id: string, query = ''): Promise<void> => {
    await tab.go(`documents/SDCDocument/${id}${query}`);
    await tab.page.getByRole('region', { name: 'Chain of evidence' }).waitFor();
  };
  const fields = (page: Page) => page.getByRole('table', { name: /^Fields, / });
  const valueOf = async (page: Page, label: string): Promise<string> =>
    (
      await fields(page)
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: label }) })
        .getByRole('cell')
        .first()
        .innerText()
    )
      .replaceAll(/\s+/g, ' ')
      .trim();

  describe.each(SCREENS)('on a %s screen', (screen) => {
    it('finds a document of a patient, and shows its text before the amendment', async () => {
      const tab = await bed.signIn(OPERATOR, screen);
      const { page } = tab;
      await tab.go('documents');
      const list = page.getByRole('grid', { name: 'Documents' });
      await list.waitFor();
      await expectReadable(page);
      await keepPicture(page, `documents-${screen}`);
      await page.keyboard.press('/');
      await page.keyboard.type('rivera');
      await page.getByLabel('Status').selectOption('amended');
      await page.getByText('2 found', { exact: true }).first().waitFor();
      await list.getByText('vitals-7').click();
      await page.getByRole('heading', { name: 'Revision 2', level: 2 }).waitFor();
      await page.getByText('Chain valid: all 8 entries are unchanged since they were recorded.').waitFor();
      await fields(page).waitFor();
      expect(await valueOf(page, 'Systolic blood pressure')).toBe('118 mm[Hg] → 128 mm[Hg]');
      await expectReadable(page);
      await keepPicture(page, `document-${screen}`);

      const slider = page.getByRole('slider');
      await slider.focus();
      await page.keyboard.press('ArrowLeft');
      await page.getByRole('heading', { name: 'Revision 1', level: 2 }).waitFor();
      expect(await valueOf(page, 'Systolic blood pressure')).toContain('118 mm[Hg]');
      expect(await valueOf(page, 'Body temperature')).toContain('37.20 Cel');
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Revision 1, completed, Dr\. Ada Okafor, 2/);
      await expectReadable(page);
      expect(tab.complaints).toEqual([]);
    }, 120_000);
  });

  it('shows comments at their fields, and notes with author and time', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'vitals-7', '?revision=1');
    const temperature = fields(page).getByRole('row').filter({ hasText: 'Body temperature' });
    await temperature.getByText('Measured twice?').waitFor();
    await fields(page).getByRole('row').filter({ hasText: 'Systolic' }).getByText('Cuff too small?').waitFor();
    const later = page.getByRole('region', { name: 'Added to this revision' });
    const note = later.getByRole('article').filter({ hasText: 'The patient was seated.' });
    expect((await note.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /^Note Nurse Tom Berg recorded by Client\/root 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\S* The patient was seated. Arm at heart level.$/,
    );
    await page.getByRole('button', { name: 'Later revision' }).click();
    await page.getByRole('region', { name: 'Added to this revision' }).getByText('Told to the night shift').waitFor();
    await page.getByLabel('Only what changed').check();
    const changed = await fields(page).getByRole('rowheader').allInnerTexts();
    expect(changed.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(
      expect.arrayContaining([
        'Body temperature same number, other digits',
        'Systolic blood pressure changed',
        'Allergies same elements, other order',
        'Gone removed',
      ]),
    );
    expect(changed.some((text) => text.includes('Smoking'))).toBe(false);
  }, 60_000);

  it('verifies the chain, and shows the first fault', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'vitals-7');
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText(/^verified at/).waitFor();
    await page.getByText('Chain valid: all 8 entries').waitFor();
    await openRecord(tab, 'forged', '?revision=2');
    await page.getByText('Chain broken: this record was changed after it was made').waitFor();
    await expectReadable(page);
    const chain = page.getByRole('region', { name: 'Chain of evidence' });
    await chain.getByText(/First fault at entry \d, a Comment: The text of the addendum/).waitFor();
    await chain.getByRole('button', { name: 'Show where' }).click();
    await page.getByRole('heading', { name: 'Revision 1', level: 2 }).waitFor();
    await page.getByText('not covered by the chain').first().waitFor();
  }, 60_000);

  it('shows names of people, unsigned changes, and markup as text', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'letter');
    await page.getByRole('heading', { name: 'Not signed: changes since revision 1' }).waitFor();
    expect(await valueOf(page, 'Later')).toBe('1.50');
    await page.getByRole('link', { name: 'Ana Rivera (Patient/p7)' }).waitFor();
    await page.getByRole('button', { name: 'Earlier revision' }).click();
    await page.getByText('Noor Brandt').first().waitFor();
    await page.getByText('recorded by Client/root').first().waitFor();
    expect(await valueOf(page, 'Body')).toBe(MARKUP);
    expect(await page.getByRole('article').filter({ hasText: /^Note/ }).getByRole('paragraph').innerText()).toBe(
      MARKUP,
    );
    expect(await page.locator('main img, main b').count()).toBe(0);
    await openRecord(tab, 'draft');
    await page.getByText('Nobody has signed it yet').waitFor();
    await expectReadable(page);
    expect(tab.complaints).toEqual([]);
  }, 60_000);

  it('prints the whole record, and saves it as a page', async () => {
    const tab = await bed.operatorTab();
    const { page } = tab;
    await openRecord(tab, 'vitals-7', '?revision=1');
    await page.evaluate(
      'window.print = () => { globalThis.printed = document.querySelector("[aria-hidden=true]:has(h1)").innerHTML }',
    );
    await page.getByRole('button', { name: 'Print' }).click();
    await eventually('the page is printed', () => page.evaluate<boolean>('globalThis.printed !== undefined'));
    await page.emulateMedia({ media: 'print' });
    const paper = await page.evaluate<string>('document.body.innerText');
    for (const text of [
      'Chain valid: all 8 entries',
      'Revision 1',
      'Revision 2',
      '37.20',
      '118',
      '128',
      'Cuff too small?',
      'Told to the night shift',
    ])
      expect(paper).toContain(text);
    expect(paper).not.toContain('Verify now');
    await page.emulateMedia({ media: null });
    await page.evaluate('window.dispatchEvent(new Event("afterprint"))');
    await page.locator('[aria-hidden=true]:has(h1)').waitFor({ state: 'detached' });

    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as page' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('SDCDocument-vitals-7.html');
    expect(await readFile(await saved.path(), 'utf8')).toContain('Intact: all 8 addenda are as recorded');
  }, 60_000);

  it('shows the changes to a user who may not read the addenda', async () => {
    const tab = await bed.signIn(READER);
    const { page } = tab;
    await openRecord(tab, 'vitals-7');
    const refused = page.getByRole('alert').filter({ hasText: 'unchanged fields' });
    await refused.getByRole('link', { name: 'Why it was refused' }).waitFor();
    expect(await valueOf(page, 'Systolic blood pressure')).toBe('118 mm[Hg] → 128 mm[Hg]');
    await page.getByText('Patient/p7').or(page.getByText('Ana Rivera (Patient/p7)')).first().waitFor();
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByRole('alert').filter({ hasText: 'the state of the chain' }).waitFor();
    await page.getByRole('button', { name: 'Earlier revision' }).click();
    await page.getByText('37.20').waitFor();
    await expectReadable(page);
  }, 60_000);

  it('scrolls through a document with 20,000 changed fields without a long task', async () => {
    const body = (shift: number): string =>
      `"type":"clinic.forms/Long",${Array.from({ length: 20_000 }, (_, index) => `"f${index}":${index + shift}.50`).join(',')}`;
    const { app } = bed;
    await app.put('/SDCDocument/long', `{"resourceType":"SDCDocument","id":"long","status":"draft",${body(0)}}`);
    await call(app, '/sign', `{"document":{"resourceType":"SDCDocument","id":"long",${body(0)}}}`);
    await call(app, '/amend', { id: 'long' });
    await call(app, '/sign', `{"document":{"resourceType":"SDCDocument","id":"long",${body(1)}}}`);
    const tab = await bed.operatorTab();
    const { page } = tab;
    await tab.go('overview');
    const trace = await traceTasks(bed.browser, page);
    await openRecord(tab, 'long');
    const table = fields(page);
    await table.waitFor({ timeout: 60_000 });
    await table.getByText('1.50').first().waitFor();
    await table.focus();
    await page.keyboard.press('End');
    await table.getByText('20000.50').waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(100);
    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('heading', { name: 'Revision 1', level: 2 }).waitFor();
    expect(await trace.longest()).toBeLessThan(600); // measured: 61 to 209 ms
  });
});
