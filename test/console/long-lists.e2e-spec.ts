import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../testing/eventually';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed } from '../support/console';
import { traceTasks } from '../support/long-tasks';

const MANY = 100_000;
/** The longest task of the browser that docs/console.md promises. */
const LONGEST_TASK_MILLISECONDS = 200;
const PASSWORD = 'a long password';

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'long lists of the console', () => {
  let bed: ConsoleBed;

  beforeAll(async () => {
    bed = await ConsoleBed.start();
  }, 120_000);
  afterAll(() => bed.close());

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

  it(`scrolls over ${MANY} Sessions, page by page, and closes one`, async () => {
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

  it('finds a resource of 5 MB in the search lab, and opens its JSON', async () => {
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
  }, 180_000);
});
