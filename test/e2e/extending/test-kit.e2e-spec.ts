import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, world } from 'svc-health-server/testing';

describe('the test kit', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('refuses a policy with a link, which would grant rights to others than its person', async () => {
    const policy = { engine: 'allow', link: [{ resourceType: 'Operation', id: 'AuthDecision' }] };
    await expect(world(app, { people: { nurse: { policies: [policy] } } })).rejects.toThrow(
      'A policy of nurse has a "link", but world links each policy to its User. Leave "link" out.',
    );
    expect((await app.get('/User/nurse')).status).toBe(404);
  });

  it('lets the process exit if a test fails before it stops its WebhookReceiver', async () => {
    const kit = join(process.env.TEST_BUILD ?? '', 'testing');
    const script = `require(${JSON.stringify(kit)}).WebhookReceiver.start().then(() => console.log('listens'))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 50_000 });
    expect(stdout).toBe('listens\n');
  });
});
