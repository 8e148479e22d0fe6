import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { eventually } from '../../testing/eventually';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed, expectReadable, keepPicture, OPERATOR, SCREENS } from '../support/console';
import { LONGEST_TASK_MILLISECONDS, traceTasks } from '../support/long-tasks';

const PASSWORD = 'a long password';
const MANY = 100_000;
const MARKUP = `<img src=x onerror="document.title='broken'"><b>Ana</b>`;
const DECISION = /\/auth\/decisions\/([\da-f-]{36})/;
const user = (id: string): object => ({ resourceType: 'User', id });

/** The User Ana may read the resources of her ward, by a Role. The User Vera may only read Users. */
const STORED: Readonly<Record<string, object>> = {
  'User/u-ana': {
    userName: 'ana',
    email: 'ana@clinic.example',
    password: PASSWORD,
    name: { givenName: 'Ana', familyName: 'Okafor' },
    data: { patient: 'p1' },
  },
  'User/bea': { userName: 'bea', password: PASSWORD, name: { givenName: 'Bea', familyName: 'Novak' } },
  'User/mark': { userName: 'mark', password: PASSWORD, name: { formatted: MARKUP } },
  'User/vera': { userName: 'vera', password: PASSWORD },
  'User/gone': { userName: 'gone', password: PASSWORD, inactive: true },
  'Role/ana-clinician': { name: 'clinician', user: user('u-ana') },
  'Patient/p1': { name: [{ family: 'Rivera' }] },
  'Patient/p2': { name: [{ family: 'Okafor' }] },
  'AccessPolicy/ward-clinicians': {
    engine: 'matcho',
    roleName: 'clinician',
    matcho: { 'request-method': 'get', params: { 'resource/type': { $enum: ['Patient', 'Observation'] } } },
    criteria: ['Patient?_id={{user.data.patient}}', 'Observation?patient=Patient/{{user.data.patient}}'],
  },
  'AccessPolicy/administrators': { engine: 'allow', roleName: 'administrator' },
  'AccessPolicy/code-lists': {
    engine: 'matcho',
    matcho: { 'request-method': 'get', params: { 'resource/type': 'ValueSet' } },
    description: 'Lists of codes are open to all staff',
  },
  'AccessPolicy/mark': { engine: 'allow', link: [user('mark')], description: MARKUP },
  'AccessPolicy/vera': {
    engine: 'matcho',
    link: [user('vera')],
    matcho: { 'request-method': 'get', params: { 'resource/type': 'User' } },
  },
};

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the page Access of the console', () => {
  let bed: ConsoleBed;

  beforeAll(async () => {
    bed = await ConsoleBed.start();
    for (const [path, body] of Object.entries(STORED))
      expect([path, (await bed.app.put(`/${path}`, body)).status]).toEqual([path, 201]);
  }, 120_000);
  afterAll(() => bed.close());

  const tokenOf = async (username: string): Promise<string> => {
    const body = { grant_type: 'password', client_id: 'console', username, password: PASSWORD };
    const answer = await bed.app.post('/auth/token', body, { authorization: null });
    return `Bearer ${answer.json<{ access_token: string }>().access_token}`;
  };
  const refusal = async (): Promise<string> => {
    const answer = await bed.app.get('/fhir/Encounter/e1', { authorization: await tokenOf('ana') });
    expect(answer.status).toBe(403);
    return answer.json<{ issue: { diagnostics: string }[] }>().issue[0]?.diagnostics ?? '';
  };
  const ask = async (page: Page, who: string, request: string): Promise<void> => {
    await page.getByLabel('User', { exact: true }).fill(who);
    await page.getByLabel('Path and query').fill(request);
    await page.getByLabel('Path and query').press('Enter');
  };
  const tryItem = (page: Page, policy: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('link', { name: policy, exact: true }) });

  it.each(SCREENS)(
    'explains why a user may not read a patient, %s',
    async (screen) => {
      const tab = await bed.signIn(OPERATOR, screen);
      const { page } = tab;
      await tab.go('access');
      await page.getByText('Choose who asks and what for').waitFor();
      await expectReadable(page);
      // The search for a User by user name, which differs from the id.
      await page.getByLabel('Path and query').fill('okaf');
      await page.getByRole('option', { name: '/fhir/Patient/p2' }).click();
      await page.getByLabel('User', { exact: true }).fill('ana');
      await page.getByRole('button', { name: 'Why?' }).click();
      await page.getByText('Hidden from u-ana: answered with 404').waitFor();
      await page
        .getByText('Patient/p2 is stored, but ward-clinicians does not grant it: its id is p2, not p1.')
        .waitFor();
      expect(await page.getByRole('link', { name: 'Patient/p2' }).getAttribute('href')).toBe('#/patients/p2');
      await tryItem(page, 'administrators')
        .getByText('administrators is for holders of the role administrator, which u-ana does not hold.')
        .waitFor();
      await tryItem(page, 'code-lists')
        .getByText('code-lists allows ValueSet only; the request was for Patient.')
        .waitFor();
      const ward = tryItem(page, 'ward-clinicians');
      await ward.getByText('"p1"').waitFor();
      expect(await ward.innerText()).toMatch(
        /grants, but not this resource[\s\S]*Patient\?_id=\{\{user\.data\.patient\}\}[\s\S]*user\.data\.patient is "p1"[\s\S]*1 for other types/,
      );
      await expectReadable(page);
      await keepPicture(page, `access-why-${screen}`);
      await ask(page, 'ana', '/fhir/Patient/Rivera');
      await page.getByText('Not stored: answered with 404').waitFor();
      await page.getByText('No, there is no Patient/Rivera.').waitFor();
      await ask(page, 'ana', '/fhir/Patient/p1');
      await page.getByText('this is one of them').waitFor();
      await ask(page, 'ana', 'DELETE /fhir/Patient/p1');
      await page.getByText('Refused with 403').waitFor();
      expect(await tryItem(page, 'ward-clinicians').innerText()).toContain('matcho.request-method');
      await ask(page, 'gone', '/fhir/Patient/p1');
      await page.getByText('Refused with 401').waitFor();
      expect(tab.complaints).toEqual([]);
    },
    90_000,
  );

  it('keeps the form and its result while a policy is open', async () => {
    const tab = await bed.signIn();
    const { page } = tab;
    await tab.go('access');
    await ask(page, 'ana@clinic.example', '/fhir/Patient/p2');
    await tryItem(page, 'ward-clinicians').getByRole('link').first().click();
    await page.getByText('Holders of the role').waitFor();
    await page.getByRole('link', { name: 'u-ana' }).waitFor();
    await page.getByRole('tab', { name: 'Why?' }).click();
    await page.getByText('Hidden from u-ana: answered with 404').waitFor();
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('ana@clinic.example');
  }, 60_000);

  it.each(SCREENS)(
    'opens the decision that a pasted refusal names, %s',
    async (screen) => {
      const tab = await bed.operatorTab(screen);
      const { page } = tab;
      const text = await refusal();
      const [, id = ''] = DECISION.exec(text) ?? [];
      await tab.go('access');
      await page.getByLabel(/^Decision id/).fill(text);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('policies grants it.').waitFor();
      expect(await page.getByLabel(/^Decision id/).inputValue()).toBe(id);
      expect(await page.evaluate('location.hash')).toBe(`#/access/decisions/${id}`);
      const ward = tryItem(page, 'ward-clinicians');
      await ward.getByText('the policy says').waitFor();
      expect(await ward.innerText()).toContain('$enum');
      await expectReadable(page);
      await keepPicture(page, `access-decision-${screen}`);
      await page.getByRole('link', { name: /^Describe this request again/ }).click();
      // The explained request was a read by id. The URL is filled in without the id, and the caret stands at its end.
      await page.locator('input:focus[value="/fhir/Encounter/"]').waitFor();
      expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('u-ana');
      expect(await page.evaluate('location.hash')).toBe('#/access');
      await page.getByRole('link', { name: 'GET Encounter (FhirRead)' }).first().click();
      await page.getByText('Policies that were tried, in order').waitFor();
      await page.getByLabel(/^Decision id/).fill('no id');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('There is no decision id in this text.').waitFor();
      await page.getByLabel(/^Decision id/).fill('Resource Patient/p2 not found. Check the id.');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('A 404 names no decision').waitFor();
      await page.locator('input:focus[value="/fhir/Patient/p2"]').waitFor();
      await tab.go('access/decisions/00000000-0000-4000-8000-000000000000');
      await page.getByText('There is no such decision').waitFor();
    },
    60_000,
  );

  it.each(SCREENS)(
    'closes one Session, and all Sessions of a user with progress, %s',
    async (screen) => {
      const who = `bea-${screen}`;
      await bed.app.put(`/User/${who}`, { userName: who, password: PASSWORD });
      const tokens: string[] = [];
      for (let count = 0; count < 12; count++) tokens.push(await tokenOf(who));
      const others = await tokenOf('ana');
      const statusOf = async (token = ''): Promise<number> =>
        (await bed.app.get('/auth/userinfo', { authorization: token })).status;
      const tab = await bed.operatorTab(screen);
      const { page } = tab;
      await tab.go('access/sessions');
      await page.getByLabel('User', { exact: true }).fill(who.slice(0, -1));
      await page.getByRole('option', { name: who }).click();
      await page.getByText('12 sessions').waitFor();
      await expectReadable(page);
      await keepPicture(page, `access-sessions-${screen}`);
      // The latest Session is first.
      await page
        .getByRole('button', { name: `Close the session of ${who}` })
        .first()
        .click();
      await page.getByText('11 sessions').waitFor();
      await page.getByText(`A session of ${who} is closed`).waitFor();
      expect([await statusOf(tokens.at(-1)), await statusOf(tokens[0])]).toEqual([401, 200]);
      await page.getByRole('button', { name: `Close all of ${who}` }).click();
      await expectReadable(page);
      await page.getByRole('button', { name: 'Close them' }).click();
      await page.getByText('11 sessions are closed.').waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByText('No session is open for this filter').waitFor();
      expect(await Promise.all(tokens.map(statusOf))).toEqual(tokens.map(() => 401));
      expect(await statusOf(others)).toBe(200);
      // Before the page closes one of the operator's own Sessions, it asks for a confirmation.
      await tab.go('access/sessions?user=operator');
      await page.getByRole('button', { name: 'Close the session of operator' }).first().click();
      await page.getByText('perhaps from this page').waitFor();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page.getByText('(you)').first().waitFor();
      expect(tab.complaints).toEqual([]);
    },
    90_000,
  );

  it.each(SCREENS)(
    'lists and opens users, clients, roles and policies, and shows markup as text, %s',
    async (screen) => {
      const tab = await bed.operatorTab(screen);
      const { page } = tab;
      await tab.go('access/users');
      await page.getByRole('searchbox', { name: 'Search users' }).fill('clinic.example');
      await page.getByText('1 users').or(page.getByText('1 user')).first().waitFor();
      await expectReadable(page);
      await page.getByRole('link', { name: 'u-ana' }).click();
      await page.getByRole('link', { name: 'Describe a request of u-ana' }).waitFor();
      await page.getByText('Refused lately').waitFor();
      await page.getByRole('link', { name: 'ward-clinicians' }).waitFor();
      // This policy belongs to a Role that the shown User does not have.
      expect(await page.getByRole('link', { name: 'administrators' }).count()).toBe(0);
      await expectReadable(page);
      await keepPicture(page, `access-user-${screen}`);
      for (const [path, open, said] of [
        ['users/mark', undefined, MARKUP],
        ['policies/mark', undefined, MARKUP],
        ['clients', 'console', /These count when the client calls by itself/],
        ['roles', undefined, /clinician/],
        ['policies', 'code-lists', /Everyone with credentials/],
        ['roles/ana-clinician', undefined, /Policies for the role clinician/],
      ] as const) {
        await tab.go(`access/${path}`);
        if (open !== undefined) await page.getByRole('link', { name: open, exact: true }).click();
        await page.getByText(said, { exact: true }).first().waitFor();
        await expectReadable(page);
      }
      expect([await page.title(), tab.complaints]).toEqual(['Access · Console', []]);
    },
    90_000,
  );

  it('shows granted data to a reader with few rights, and links the decisions that refused the rest', async () => {
    const tab = await bed.signIn({ userName: 'vera', password: PASSWORD });
    const { page } = tab;
    await tab.go('access/users/bea');
    await page.getByText('Bea Novak').waitFor();
    // Reads of Roles and of policies have separate decisions.
    await page.getByText('No policy lets you see the roles.').waitFor();
    await page.getByText('No policy lets you see the policies.').waitFor();
    const links = page.getByRole('link', { name: 'Why it was refused' });
    expect(await links.first().getAttribute('href')).toMatch(/^#\/access\?decision=[\da-f-]{36}$/);
    await tab.go('access/sessions');
    await page.getByText('No policy lets you see the sessions.').waitFor();
    await tab.go('access');
    await ask(page, 'bea', '/fhir/Patient/p1');
    await page.getByText('No policy lets you see what the policies say.').waitFor();
    // Vera may not read decisions either, so the page shows only the refusal.
    await page.getByRole('link', { name: 'Why it was refused' }).click();
    await page.getByText('No policy lets you see the decision.').waitFor();
  }, 60_000);

  /** Copies the only open Session of a User, with its search rows. To open so many by login would take an hour. */
  async function copySession(username: string): Promise<void> {
    const database = await bed.app.connect();
    const { rows } = await database.query<{ key: string; id: string }>(
      `select resource_key as key, id from resource where type = 'Session' and body::jsonb -> 'user' ->> 'id' = $1`,
      [username],
    );
    expect(rows).toHaveLength(1);
    const [{ key, id } = { key: '', id: '' }] = rows;
    await database.query(
      `insert into resource select copy.* from resource r cross join generate_series(1, $2::integer) n
         cross join lateral jsonb_populate_record(r, jsonb_build_object('resource_key', 900000000000 + n, 'id', 'copy-' || n,
           'body', replace(r.body, $3::text, 'copy-' || n))) copy
       where r.resource_key = $1::bigint`,
      [key, MANY, id],
    );
    for (const table of ['search_token', 'search_date', 'search_number', 'search_string', 'reference_link']) {
      const { rows: columns } = await database.query<{ name: string }>(
        `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER'`,
        [table],
      );
      const names = columns.map(({ name }) => name);
      const values = names.map((name) => (name === 'resource_key' ? '900000000000 + n' : name));
      await database.query(
        `insert into ${table} (${names.join()}) select ${values.join()} from ${table}, generate_series(1, $2::integer) n
         where resource_key = $1::bigint`,
        [key, MANY],
      );
    }
    await database.query('analyze');
    await database.end();
  }

  it(`scrolls through ${MANY} Sessions, and closes one`, async () => {
    await bed.app.put('/User/busy', { userName: 'busy', password: PASSWORD });
    const login = { grant_type: 'password', client_id: 'console', username: 'busy', password: PASSWORD };
    expect((await bed.app.post('/auth/token', login, { authorization: null })).status).toBe(200);
    await copySession('busy');
    const tab = await bed.operatorTab();
    const { page } = tab;
    const trace = await traceTasks(bed.browser, page);
    await tab.go('access/sessions?user=busy');
    const table = page.getByRole('table', { name: 'Sessions' });
    await table.waitFor();
    await page.getByText(/^100,?001 sessions/).waitFor();
    const height = (): Promise<number> =>
      table.evaluate(
        (element: { scrollHeight: number; scrollTop: number }) => (element.scrollTop = element.scrollHeight),
      );
    for (let pages = 2; pages <= 12; pages++) {
      const before = await height();
      await eventually(`page ${pages} is there`, async () => (await height()) > before);
    }
    expect(await table.getByRole('row').count()).toBeLessThan(80);
    await table
      .getByRole('button', { name: /^Close the session of busy/ })
      .last()
      .click();
    await page.getByText(/^100,?000 sessions/).waitFor();
    const tasks = await trace.stop();
    expect(tasks.length).toBeGreaterThan(100);
    expect(tasks.filter((milliseconds) => milliseconds > LONGEST_TASK_MILLISECONDS)).toEqual([]);
    expect(tab.complaints).toEqual([]);
  }, 240_000);
});
