import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT_SECRET, startTestApp, type TestApp } from '../../testing/test-app';
import { textOf } from './documents';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on' } });
});
afterAll(() => app.close());

/** The shell lines of the README's tour, for the server of this spec. */
function tour(): string {
  const [, text = ''] = textOf('README.md').split('## Five minutes by curl');
  const [section = ''] = text.split('\n## ');
  const lines = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n');
  return `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${lines}`
    .replace(/^BASE=.*$/m, `BASE=${app.url}`)
    .replace(/^ROOT=.*$/m, `ROOT=root:${ROOT_SECRET}`)
    .replaceAll('9090', '9187');
}

describe('the tour of the README', () => {
  it('runs as written, and the server refuses the last token', async () => {
    const { stdout } = await promisify(execFile)('bash', ['-e', '-c', tour()], { timeout: 30_000 });
    const answers = stdout.split('\n').filter((line) => line.startsWith('{') || line.startsWith('['));
    const refused = answers.filter((answer) => /"issue":|"error":/.test(answer) && !answer.includes('"all-ok"'));
    expect(refused).toEqual([expect.stringContaining('The access token is not valid') as unknown]);
  });
});
