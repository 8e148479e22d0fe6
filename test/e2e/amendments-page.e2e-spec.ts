import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { chromium } from 'playwright-core';
import { CHROMIUM_IS_MISSING, chromiumPath, mayGoWithoutChromium } from '../support/chromium';
import { login, type Person } from '../support/people';
import { type Received, type TestApp, startTestApp } from '../support/test-app';

interface View {
  readonly stored?: object;
  readonly chain: { readonly intact: boolean; readonly length: number };
  readonly entries: readonly {
    readonly number: number;
    readonly type: string;
    readonly revision?: number;
    readonly changes?: readonly object[];
    readonly [member: string]: unknown;
  }[];
}

const user = { id: 'doc-1', resourceType: 'User', display: 'Dr. Ada Okafor' };
const XSS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><svg onload=alert(1)>',
  '&lt;b&gt;',
  '${1+1}',
];

describe('$amendments', () => {
  let app: TestApp;
  let nurse: Person;
  const target = { id: 'vitals-9', resourceType: 'SDCDocument' };
  const body = (answers: object): object => ({
    ...target,
    type: 'clinic.forms/VitalsDocument',
    patient: { resourceType: 'Patient', id: 'p7' },
    ...answers,
  });

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { mayDoEverything: false });
    await app.put('/SDCDocument/vitals-9', body({ status: 'draft' }));
    const params = { target, user };
    await rpc('svc.sdc.addendum/add-comment', { ...params, text: 'Measured twice?', path: ['8310-5', 'value'] });
    await sign(
      '{"8310-5":{"value":37.20,"unit":"Cel"},"8480-6":{"value":120,"unit":"mm[Hg]"},"left":{"text":"Left arm","value":""}}',
    );
    await rpc('svc.sdc.addendum/add-note', { ...params, text: 'The patient was seated.\nLeft arm.' });
    await rpc('svc.sdc/amend', { id: 'vitals-9', user });
    await sign('{"8310-5":{"value":37.4,"unit":"Cel"},"8480-6":{"value":"120","unit":"mm[Hg]"},"allergies":["Latex"]}');
    await rpc('svc.sdc.addendum/create-addendum', { addendum: { type: 'acme/HandOver', ...params, ward: '4B' } });
  });
  afterAll(() => app.close());

  async function rpc(method: string, params: object): Promise<void> {
    const { status, text } = await app.post('/rpc', { method, params });
    if (status !== 200) throw new Error(text);
  }
  async function sign(answers: string): Promise<void> {
    const whole = JSON.stringify(body({})).slice(0, -1) + answers.replace('{', ',');
    const { status, text } = await app.post(
      '/rpc',
      `{"method":"svc.sdc/sign","params":{"user":${JSON.stringify(user)},"document":${whole}}}`,
    );
    if (status !== 200) throw new Error(text);
  }
  const page = (id = 'SDCDocument/vitals-9', accept = 'text/html', authorization?: string): Promise<Received> =>
    app.get(`/${id}/$amendments`, {
      headers: { Accept: accept },
      ...(authorization === undefined ? {} : { authorization }),
    });
  const view = async (id?: string): Promise<View> => (await page(id, 'application/json')).json<View>();
  /** The text as a reader meets it. */
  const textOf = (html: string): string =>
    html
      .replace(/<style>.*<\/style>/s, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');

  it('shows each changed field with its name, unit, old and new value, and who, when and in which revision', async () => {
    const text = textOf((await page()).text);
    for (const told of [
      'Amendments of SDCDocument/vitals-9',
      'Patient Patient/p7',
      'The record is intact. 7 addenda found as recorded.',
      'Comment on Body temperature 8310-5 / value',
      'Dr. Ada Okafor ( User/doc-1 ), recorded by Client/root',
      'Revision 1: completed',
      'The patient was seated. Left arm.',
      'Status: in-amendment',
      'Revision 2: amended',
      'Amendment: revision 1 to 2',
      'Body temperature 8310-5 / value Comment, number 1 37.20 Cel 37.4 Cel',
      'Systolic blood pressure 8480-6 / value 120 mm[Hg] (number) 120 mm[Hg] (text)',
      'Left arm left / value empty text not there',
      'Allergies › item 1 allergies / 0 not there Latex',
      'acme/HandOver',
      'ward &quot;4B&quot;',
    ]) {
      expect(text).toContain(told);
    }
    expect(text).toMatch(/\d+ \w+ \d{4} at \d\d:\d\d:\d\d UTC/);
  });

  it('is a page without scripts that may load, run, frame and send nothing', async () => {
    const { headers, text } = await page();
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<script|\son\w+=|javascript:|<form|<iframe|https?:/i);
    expect(text).toContain('@media print');
  });

  it.each([
    ['/', undefined, 'text/html'],
    ['/fhir/', '*/*', 'text/html'],
    ['/', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['/fhir/', 'application/json', 'application/json'],
    ['/', 'application/fhir+json, text/html;q=0.5', 'application/fhir+json'],
  ])('answers at %s to Accept: %s with %s', async (root, accept, type) => {
    const sent = accept === undefined ? {} : { headers: { Accept: accept } };
    const { status, headers } = await app.get(`${root}SDCDocument/vitals-9/$amendments`, sent);
    expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
  });

  it('answers the same as JSON', async () => {
    const { chain, entries } = await view();
    expect(chain).toMatchObject({ intact: true, length: 7 });
    expect(entries.map(({ number, type }) => `${number} ${type.split('/')[1] ?? ''}`)).toEqual([
      '1 Comment',
      '2 History',
      '3 Note',
      '4 History',
      '5 History',
      '6 Amendment',
      '7 HandOver',
    ]);
    expect(entries[5]?.changes?.[0]).toEqual({
      label: 'Body temperature',
      path: ['8310-5', 'value'],
      type: 'replace',
      old: '37.20',
      'old-kind': 'number',
      'old-unit': 'Cel',
      new: '37.4',
      'new-kind': 'number',
      'new-unit': 'Cel',
      comments: [1],
    });
    expect(entries[6]?.more).toEqual({ ward: '"4B"' });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('is not called by %s', async (method) => {
    expect(
      (await app.send(method, '/SDCDocument/vitals-9/$amendments', method === 'DELETE' ? {} : { body: {} })).status,
    ).toBe(405);
  });

  it.each(XSS)('shows %s as text, wherever it stands', async (evil) => {
    const id = `SDCDocument/evil-${XSS.indexOf(evil)}`;
    const own = { id: id.split('/')[1], resourceType: 'SDCDocument' };
    const by = { id: evil, resourceType: 'User', display: evil };
    const first = {
      ...own,
      status: 'completed',
      type: evil,
      patient: { resourceType: 'Patient', id: evil },
      a: { [evil]: 'x', text: evil, value: 1, unit: evil },
    };
    await app.put(`/${id}`, first);
    await rpc('svc.sdc.addendum/add-to-history', { resource: first, user: by });
    await rpc('svc.sdc.addendum/add-to-history', {
      resource: { ...first, a: { ...first.a, [evil]: evil, value: 2 } },
      user: by,
    });
    await rpc('svc.sdc.addendum/create-amendment', { target: own, user: by });
    await rpc('svc.sdc.addendum/add-note', { target: own, user: by, text: evil });
    await rpc('svc.sdc.addendum/add-comment', { target: own, user: by, text: evil, path: [evil, 'a'] });
    await rpc('svc.sdc.addendum/create-addendum', { addendum: { type: evil, target: own, user: by, [evil]: evil } });
    const { text } = await page(id);
    const escaped = evil
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;');
    expect(text.split(escaped).length).toBeGreaterThan(12);
    expect(text).not.toMatch(/<(script|img|svg|b)[\s>]|<[^>]*\son\w+=/i);
  });

  it('tells of a document that was never signed, and of one without addenda', async () => {
    await app.put('/SDCDocument/plain', { resourceType: 'SDCDocument', status: 'draft' });
    const text = textOf((await page('SDCDocument/plain')).text);
    expect(text).toContain('none: it was never signed');
    expect(text).toContain('Nothing has been recorded');
  });

  it('tells of a first revision, and of a second one that no Amendment compares with it', async () => {
    const own = { id: 'alone', resourceType: 'SDCWorkflow' };
    await rpc('svc.sdc.addendum/add-to-history', { resource: { ...own, status: 'completed' }, user });
    expect(textOf((await page('SDCWorkflow/alone')).text)).not.toContain('not recorded as an Amendment');
    await rpc('svc.sdc.addendum/add-to-history', { resource: { ...own, status: 'amended' }, user });
    const text = textOf((await page('SDCWorkflow/alone')).text);
    expect(text).toContain('What changed since revision 1 was not recorded as an Amendment.');
    expect(text).toContain('This record is not stored any more.');
  });

  it('stays when its target is deleted', async () => {
    await app.put('/SDCDocument/gone', { resourceType: 'SDCDocument', status: 'completed' });
    await rpc('svc.sdc.addendum/add-note', { target: { ...target, id: 'gone' }, user, text: 'Still here' });
    await app.delete('/SDCDocument/gone');
    const { status, text } = await page('SDCDocument/gone');
    expect([status, textOf(text)]).toEqual([200, expect.stringMatching(/is not stored any more.*Still here/)]);
  });

  it('is not there for what is not there', async () => {
    const { status, text } = await page('SDCDocument/nobody');
    expect([status, text]).toEqual([404, expect.stringContaining('SDCDocument/nobody not found')]);
  });

  it('tells that the chain is broken, and where', async () => {
    await app.put('/SDCDocument/broken', { resourceType: 'SDCDocument', status: 'completed' });
    await rpc('svc.sdc.addendum/add-note', { target: { ...target, id: 'broken' }, user, text: 'Allergic to latex' });
    const database = new Client({ connectionString: app.databaseUrl });
    await database.connect();
    await database.query(
      `update resource set body = replace(body, 'Allergic to', 'No allergy to') where body like '%Allergic to latex%'`,
    );
    await database.end();
    const text = textOf((await page('SDCDocument/broken')).text);
    expect(text).toContain('The record was tampered with or damaged at number 1.');
    expect(text).toContain('do not rely on it. Reason: changed-text');
    expect((await view('SDCDocument/broken')).chain.intact).toBe(false);
  });

  it('is for those who may call it, and shows what they may read', async () => {
    expect((await page(undefined, undefined, nurse.bearer)).status).toBe(403);
    await app.put('/AccessPolicy/nurse', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirAmendments' }],
      criteria: ['SDCDocument?patient=Patient/p7'],
    });
    await app.put('/SDCDocument/hidden', { resourceType: 'SDCDocument', status: 'completed' });
    expect((await page(undefined, undefined, nurse.bearer)).status).toBe(200);
    const hidden = await page('SDCDocument/hidden', undefined, nurse.bearer);
    const missing = await page('SDCDocument/missing', undefined, nurse.bearer);
    expect([hidden.status, missing.status, hidden.text.replaceAll('hidden', 'missing')]).toEqual([
      404,
      404,
      missing.text,
    ]);
    expect((await page('SDCDocument/gone', undefined, nurse.bearer)).status).toBe(404);
  });

  const inBrowser = mayGoWithoutChromium() ? it.skip : it;
  inBrowser(
    mayGoWithoutChromium()
      ? CHROMIUM_IS_MISSING
      : 'is read in Chromium without a fault that axe-core finds, on screens and on paper',
    async () => {
      const executablePath = chromiumPath();
      if (executablePath === undefined) throw new Error(CHROMIUM_IS_MISSING);
      const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
      try {
        const tab = await browser.newPage({ viewport: { width: 1000, height: 800 } });
        const { text } = await page();
        const errors: string[] = [];
        tab.on('console', (message) => errors.push(message.text()));
        await tab.setContent(text);
        const screen = await tab.screenshot({ fullPage: true });
        expect(screen.length).toBeGreaterThan(20_000);
        const width = await tab.evaluate('document.documentElement.scrollWidth');
        expect(width).toBe(1000);
        await tab.setViewportSize({ width: 360, height: 800 });
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360);
        expect((await tab.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
        await tab.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
        const found = await tab.evaluate<{ violations: { id: string }[]; passes: object[] }>('axe.run()');
        expect(found.violations.map(({ id }) => id)).toEqual([]);
        expect(found.passes.length).toBeGreaterThan(20);
        expect(
          await tab.evaluate(`[...document.querySelectorAll('h1, h2')].map((heading) => heading.tagName).join(' ')`),
        ).toMatch(/^H1( H2)+$/);
        expect(errors).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    60_000,
  );
});
