import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Page } from 'playwright-core';
import { eventually } from '../../testing/eventually';
import { type TestApp } from '../../testing/test-app';
import { WebhookReceiver } from '../../testing/webhook-receiver';
import { CHROMIUM_IS_MISSING, mayGoWithoutChromium } from '../support/chromium';
import { ConsoleBed, type ConsoleTab, expectReadable, keepPicture, type Screen, SCREENS } from '../support/console';
import { countsOf, delivered, destination, newName, newTopic } from '../support/destinations';
import { LONGEST_TASK_MILLISECONDS, traceTasks } from '../support/long-tasks';

const MANY = 10_000;

const inBrowser = mayGoWithoutChromium() ? describe.skip : describe;

inBrowser(mayGoWithoutChromium() ? CHROMIUM_IS_MISSING : 'the destinations of the console', () => {
  let bed: ConsoleBed;
  let app: TestApp;
  let receiver: WebhookReceiver;
  let topic: string;
  let tab: ConsoleTab;
  let page: Page;

  beforeAll(async () => {
    bed = await ConsoleBed.start({ environment: { SVC_SHUTDOWN_SECONDS: '1' } });
    ({ app } = bed);
  }, 120_000);
  afterAll(() => bed.close());
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
    topic = await newTopic(app);
  });
  afterEach(() => receiver.stop());

  const open = async (screen: Screen = 'desktop'): Promise<void> => {
    tab = await bed.operatorTab(screen);
    ({ page } = tab);
  };
  const expectNoComplaints = (...expected: readonly RegExp[]): void => {
    expect(tab.complaints.filter((text) => !expected.some((known) => known.test(text)))).toEqual([]);
  };
  const store = async (id: string, ...parameter: readonly object[]): Promise<void> => {
    const body = destination(topic, {
      parameter: [
        { name: 'endpoint', valueUrl: receiver.url },
        { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
        ...parameter,
      ],
    });
    const answer = await app.put(`/fhir/SvcTopicDestination/${id}`, body);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  };
  const write = async (id: string): Promise<void> => {
    expect((await app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id })).status).toBe(201);
  };
  const remove = (id: string): Promise<unknown> => app.delete(`/fhir/SvcTopicDestination/${id}`);

  it('shows how to start if nothing is stored', async () => {
    await open();
    await tab.go('destinations');
    await page.getByText('npm run demo -- --keep').waitFor();
    await expectReadable(page);
    expectNoComplaints();
  }, 60_000);

  it.each(['desktop', 'phone'] as const)(
    'explains why a webhook fails, and delivers the missed events again, on a %s screen',
    async (screen) => {
      const id = `results-${screen}`;
      receiver.always({ kind: 'answer', status: 401, headers: { 'retry-after': '600' } });
      await store(
        id,
        { name: 'header', valueString: 'Authorization: Bearer geheim' },
        { name: 'secret', valueString: Buffer.alloc(32, 5).toString('base64') },
      );
      for (const name of [newName(), newName(), newName()]) await write(name);
      await eventually('it fails', async () => ((await countsOf(app, id)).messageBatchesDeliveryAttempts ?? 0) > 0);

      await open(screen);
      await tab.go('destinations');
      await page.getByRole('button', { name: /^Failing/ }).click();
      await page.getByRole('link', { name: id }).click();
      await page.getByText(/HTTP 401: 1 attempt has failed\. 3 events wait/).waitFor();
      await page.getByText('The receiver refuses the credentials.').waitFor();
      await page.getByText(/The next attempt starts in \d{3} s/).waitFor();
      await page.getByRole('button', { name: /^#1/ }).click();
      const steps = page.getByRole('list', { name: 'From commit to delivery' });
      expect(await steps.getByRole('listitem').allTextContents()).toEqual([
        expect.stringMatching(/^Committed with its write/),
        expect.stringMatching(/^Taken into a notification/),
        expect.stringMatching(/^Attempt 1HTTP 401.*took \d+ (?:ms|µs)/),
        expect.stringMatching(/^Waits for the next attempt/),
      ]);
      const request = page.getByRole('region', { name: 'The request' });
      expect(await request.textContent()).toContain(String(receiver.request(0).headers['webhook-id']));
      expect(await request.getByText('authorization').locator('..').textContent()).toContain('***');
      await expectReadable(page);
      await keepPicture(page, `destination-${screen}`);

      // Scenario: the receiver works again.
      receiver.always({ kind: 'answer', status: 200 });
      const sent = receiver.requests.length;
      await page.getByRole('button', { name: 'Deliver the 3 waiting events now' }).click();
      await page.getByText('All events are delivered.').waitFor();
      await delivered(app, id, 3);
      expect(receiver.requests.length - sent).toBe(2);

      // Scenario: the receiver lost the events that it had accepted.
      await page.getByRole('tab', { name: 'Send again' }).click();
      await page.getByRole('button', { name: 'Last hour' }).click();
      await page.getByText('3 delivered events: numbers 1 to 3.').waitFor();
      await expectReadable(page);
      await keepPicture(page, `replay-${screen}`);
      await page.getByRole('button', { name: 'Send 3 again' }).click();
      await page.getByText('3 events are queued again.').waitFor();
      await delivered(app, id, 6);
      expect(new Set(receiver.requests.slice(sent).map(({ headers }) => headers['webhook-id'])).size).toBe(2);
      expect(await page.content()).not.toContain('geheim');
      await remove(id);
      expectNoComplaints();
    },
    90_000,
  );

  it('creates a webhook with the errors of the server at their fields, and deletes it after a confirmation', async () => {
    await app.put('/fhir/Patient/p-made', { resourceType: 'Patient', id: 'p-made', active: true });
    await store('taken');
    await open();
    await tab.go('destinations');
    await page.getByRole('link', { name: 'New webhook' }).click();
    await page.getByRole('button', { name: 'Store the webhook' }).click();
    await page.getByText('An absolute http or https URL.').waitFor();
    await expectReadable(page);
    await page.getByLabel('Id', { exact: true }).fill('taken');
    await page.getByLabel('Endpoint').fill(receiver.url);
    await page.getByLabel('Topic').fill(topic);
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('Host');
    await page.getByLabel('Value of header 1').fill('clinic');
    // The draft stays while another page is open.
    await tab.go('overview');
    await tab.go('destinations?tab=new');
    await page.getByRole('button', { name: 'Store the webhook' }).click();
    const headers = page.getByRole('group', { name: 'Headers' });
    await headers.getByText(/A header names Host/).waitFor();
    await page.getByLabel('Name of header 1').fill('X-Clinic');
    await page.getByRole('button', { name: 'Store the webhook' }).click();
    await page.getByText('There is a webhook with this id.').waitFor();
    await page.getByLabel('Id', { exact: true }).fill('made');
    await page.getByRole('button', { name: 'Store the webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'The new secret' });
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { level: 1, name: 'made' }).waitFor();
    await page.getByText(`Sends to ${receiver.url}`).waitFor();

    receiver.always({ kind: 'answer', status: 500 });
    await app.put('/fhir/Patient/p-made', { resourceType: 'Patient', id: 'p-made', active: false });
    await eventually('it fails', async () => ((await countsOf(app, 'made')).messageBatchesDeliveryAttempts ?? 0) > 0);
    // Another destination of this spec sends to the same receiver, so not every request has these headers.
    expect(receiver.requests.map(({ headers }) => headers)).toContainEqual(
      expect.objectContaining({ 'x-clinic': 'clinic', 'webhook-signature': expect.stringMatching(/^v1,/) }),
    );
    await page.getByRole('button', { name: /^#1/ }).click();
    const link = page.getByRole('link', { name: 'Open Patient/p-made in the record of the patient' });
    expect(await link.getAttribute('href')).toBe('#/patients/p-made');
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Delete this webhook' }).click();
    const question = page.getByRole('dialog', { name: 'Delete made?' });
    await question.getByText('1 event that is not delivered').waitFor();
    await expectReadable(page);
    await question.getByRole('button', { name: 'Delete it and drop 1' }).click();
    await page.getByRole('grid', { name: 'Webhooks' }).waitFor();
    expect((await app.get('/fhir/SvcTopicDestination/made')).status).toBe(410);
    await remove('taken');
    expectNoComplaints(/412|422/);
  }, 90_000);

  it('shows since when a replay fails', async () => {
    await store('replayed');
    await write(newName());
    await delivered(app, 'replayed', 1);
    receiver.always({ kind: 'answer', status: 503 });
    const again = await app.send('POST', '/fhir/SvcTopicDestination/replayed/$replay?from=1&to=1');
    expect([again.status, again.text]).toEqual([200, expect.any(String)]);
    await eventually(
      'it fails',
      async () => ((await countsOf(app, 'replayed')).messageBatchesDeliveryAttempts ?? 0) > 0,
    );
    await open();
    await tab.go('destinations/replayed');
    await page.getByText(/Failing since \d{4}-/).waitFor();
    await remove('replayed');
    expectNoComplaints();
  }, 60_000);

  it('sends a test delivery, and rates the receiver', async () => {
    await store('tested');
    await open();
    await tab.go('destinations/tested?tab=test');
    await page.getByRole('button', { name: 'Send a test' }).click();
    const findings = page.getByRole('list', { name: 'Findings' });
    await findings.waitFor();
    expect((await findings.getByRole('listitem').allTextContents()).map((text) => text.split(' ')[0])).toEqual([
      'Passedanswer',
      'Passedtime',
      ...['Look', 'Passedrepetition', 'Look'],
    ]);
    await expectReadable(page);
    await keepPicture(page, 'destination-test');
    await remove('tested');
    expectNoComplaints();
  }, 60_000);

  it('edits settings with validation and version check, and receives no secret', async () => {
    await store('edited', { name: 'header', valueString: 'Authorization: Bearer geheim' });
    await open();
    const answers: Promise<string>[] = [];
    page.on('response', (response) => answers.push(response.text().catch(() => '')));
    await tab.go('destinations/edited?tab=settings');
    const timeout = page.getByLabel('Timeout, seconds');
    await timeout.fill('0');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText('A whole number from 1 to 86,400.').waitFor();
    await expectReadable(page);
    await timeout.fill('12');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 2').fill('Host');
    await page.getByLabel('Value of header 2').fill('evil.example');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText(/A header .*writes itself/).waitFor();
    await page.getByLabel('Name of header 2').fill('X-Clinic');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText('Stored. The next attempt').waitFor();
    const stored = (await app.get('/fhir/SvcTopicDestination/edited')).json<{ parameter: object[]; meta: object }>();
    expect(stored.parameter).toEqual(
      expect.arrayContaining([
        { name: 'timeout', valueUnsignedInt: 12 },
        { name: 'header', valueString: 'Authorization: Bearer geheim' },
        { name: 'header', valueString: 'X-Clinic: evil.example' },
      ]),
    );
    await timeout.fill('13');
    await app.put('/fhir/SvcTopicDestination/edited', { ...stored, content: 'empty' });
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText('Somebody else changed this webhook meanwhile').waitFor();
    await page.getByRole('button', { name: 'Read it again' }).click();
    await page.getByText('Somebody else changed').waitFor({ state: 'detached' });
    await eventually('it is read', async () => (await page.getByLabel('Content').inputValue()) === 'empty');
    expect((await Promise.all(answers)).filter((text) => text.includes('geheim'))).toEqual([]);
    await remove('edited');
    expectNoComplaints(/412|422/);
  }, 60_000);

  it('rotates a secret: shows it once, signs with both, then only with the new one', async () => {
    await store('rotated', { name: 'secret', valueString: Buffer.alloc(32, 5).toString('base64') });
    await open();
    await tab.go('destinations/rotated?tab=settings');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'The new secret' });
    await dialog.waitFor();
    const secret = (await dialog.locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_.{44}$/);
    await expectReadable(page);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByText('Two secrets sign each notification').waitFor();
    expect(await page.content()).not.toContain(secret);
    const signatures = async (): Promise<number> => {
      const { length } = receiver.requests;
      await write(newName());
      await eventually('it arrives', () => receiver.requests.length > length);
      return String(receiver.requests.at(-1)?.headers['webhook-signature']).split(' ').length;
    };
    expect(await signatures()).toBe(2);
    await page.getByRole('button', { name: 'End the rotation: drop the old secret' }).click();
    await page.getByText('One secret signs each notification.').waitFor();
    expect(await signatures()).toBe(1);
    await remove('rotated');
    expectNoComplaints();
  }, 60_000);

  it('runs a topic on the stored history while the user types', async () => {
    for (const gender of ['male', 'female', 'female'])
      await app.post('/fhir/Patient', { resourceType: 'Patient', gender, name: [{ family: '<b>Rivera</b>' }] });
    await open();
    await tab.go('destinations?tab=topics&topic=new');
    await page.getByLabel('Resource type').fill('Patient');
    await page.getByLabel('Criteria').fill("name.exists() and gender = 'female'");
    await page.getByText('Would have fired 2 times').waitFor();
    await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').nth(1).waitFor();
    await page.getByRole('button', { name: 'Would not' }).click();
    await page.getByText("false: gender = 'female'").first().waitFor();
    const unmet = page.getByRole('region', { name: 'The first clause that was false' });
    expect(await unmet.getByRole('listitem').allTextContents()).toContainEqual(
      expect.stringMatching(/^gender = 'female'1/),
    );
    await expectReadable(page);
    await keepPicture(page, 'topic-desktop');
    await page.getByLabel('Criteria').fill('gendr');
    await page.getByText(/do you mean/).waitFor();
    await page.getByLabel('Criteria').fill("gender = 'female'");
    await page.getByLabel('Id').fill('women');
    await page.getByRole('button', { name: 'Store the topic' }).click();
    await eventually('it is stored', async () => (await app.get('/fhir/SvcSubscriptionTopic/women')).status === 200);
    expectNoComplaints(/422/);
  }, 60_000);

  it.each(SCREENS)(
    'has no accessibility violations on a %s screen',
    async (screen) => {
      const id = `read-${screen}`;
      receiver.always({ kind: 'answer', status: 500 });
      await store(id);
      await write(newName());
      await eventually('it fails', async () => ((await countsOf(app, id)).messageBatchesDeliveryAttempts ?? 0) > 0);
      await open(screen);
      await tab.go('destinations');
      await page.getByRole('link', { name: id }).waitFor();
      await expectReadable(page);
      for (const path of ['', '?tab=replay', '?tab=test', '?tab=settings']) {
        await tab.go(`destinations/${id}${path}`);
        await page.locator('[role=tabpanel] button').first().waitFor();
        await expectReadable(page);
      }
      await tab.go('destinations?tab=topics');
      await page.getByRole('grid', { name: 'Topics' }).waitFor();
      await expectReadable(page);
      await page.getByRole('grid', { name: 'Topics' }).getByRole('link').first().click();
      await page.getByText(/Would have fired/).waitFor();
      await expectReadable(page);
      if (screen === 'phone') await keepPicture(page, 'topic-phone');
      await remove(id);
      expectNoComplaints();
    },
    90_000,
  );

  it('shows markup as text', async () => {
    await store('markup');
    const database = await app.connect();
    await database.query(
      `update destination_runtime set fail_streak = 3, next_attempt_at = now() + interval '1 hour',
         last_errors = '[{"message": "<img src=x onerror=alert(1)><b>bold</b>", "timestamp": "2026-01-31T10:00:00Z"}]'
       where destination_id = 'markup'`,
    );
    await database.end();
    await open();
    await tab.go('destinations');
    await page.getByText('<img src=x onerror=alert(1)><b>bold</b>').waitFor();
    await page.getByRole('link', { name: 'markup' }).click();
    await page.getByText('<b>bold</b>').first().waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    await remove('markup');
    expectNoComplaints();
  }, 60_000);

  it('links the decision that refused a part of the page', async () => {
    await store('refused');
    await app.put('/User/reader', { userName: 'reader', password: 'a long password of the reader' });
    await app.put('/AccessPolicy/reader', {
      engine: 'matcho',
      matcho: { 'request-method': 'get', uri: '#SvcTopicDestination/' },
      link: [{ resourceType: 'User', id: 'reader' }],
    });
    tab = await bed.signIn({ userName: 'reader', password: 'a long password of the reader' });
    ({ page } = tab);
    await tab.go('destinations/refused?tab=test');
    await page.getByRole('button', { name: 'Send a test' }).click();
    const link = page.getByRole('link', { name: 'Why it was refused' });
    expect(await link.getAttribute('href')).toMatch(/^#\/access\?decision=/);
    await remove('refused');
    expectNoComplaints(/403/);
  }, 60_000);

  it(`scrolls and filters ${MANY} destinations without a long task`, async () => {
    await store('many');
    const database = await app.connect();
    await database.query(
      `insert into resource select copy.* from resource r cross join generate_series(1, $1::integer) n
         cross join lateral (select 'many-' || lpad(n::text, 5, '0') as id) named
         cross join lateral jsonb_populate_record(r, jsonb_build_object('resource_key', 900000000000 + n, 'id', named.id,
           'body', replace(r.body, '"many"', '"' || named.id || '"'))) copy
       where r.type = 'SvcTopicDestination' and r.id = 'many'`,
      [MANY],
    );
    await database.query(
      `insert into destination_runtime (destination_id, kind, presentation, sealed_settings, max_messages_in_batch, timeout_seconds,
         fail_streak, next_attempt_at, last_errors, hour_numbers, hour_delivered, hour_failed)
       select 'many-' || lpad(n::text, 5, '0'), kind, presentation, sealed_settings, 20, 30, case when n % 100 = 0 then 7 else 0 end,
         now() + interval '1 hour', case when n % 100 = 0 then '[{"message": "HTTP 503", "timestamp": "2026-01-31T10:00:00Z"}]'::jsonb else '[]' end,
         array_fill((extract(epoch from now())::bigint / 3600)::integer, array[24]), array_fill(n, array[24]), array_fill(n % 7, array[24])
       from destination_runtime, generate_series(1, $1::integer) n where destination_id = 'many'`,
      [MANY],
    );
    await database.end();
    await open();
    const trace = await traceTasks(bed.browser, page);
    await tab.go('destinations');
    const table = page.getByRole('grid', { name: 'Webhooks' });
    await table.waitFor();
    await page.getByText(/^Reading/).waitFor({ state: 'detached', timeout: 60_000 });
    const names = page.getByRole('button', { name: /^All 10,00\d$/ });
    await names.waitFor();
    await table.focus();
    for (let step = 0; step < 40; step++) {
      await page.evaluate(`document.activeElement.scrollBy(0, ${step % 8 === 7 ? 60_000 : 900})`);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'many-09999' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('many-0777', { delay: 30 });
    await page.getByText(/^10 of 10,00/).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: /^Failing 100$/ }).click();
    await page.getByText(/^100 of 10,00/).waitFor();
    const tasks = await trace.stop();
    await keepPicture(page, 'destinations-desktop');
    expect(tasks.length).toBeGreaterThan(100);
    expect(tasks.filter((milliseconds) => milliseconds > LONGEST_TASK_MILLISECONDS)).toEqual([]);
    expectNoComplaints();
  });
});
