import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HttpClient } from './http-client';
import { jsonBody } from './json-body';

const client = new HttpClient('http://localhost:3000');
const variables = new Map([
  ['BASE_URL', 'http://localhost:3000'],
  ['SECRET', "it's $HOME"],
]);

describe('curlLine', () => {
  it('shows variables in place of the base address and of secrets', () => {
    const line = client.curlLine(
      {
        method: 'PUT',
        path: '/Client/app?$x',
        authorization: { user: 'root', password: "it's $HOME" },
        body: jsonBody({ secret: "it's $HOME", name: "O'Hara" }),
      },
      variables,
    );
    expect(line).toBe(
      `curl -sS -X PUT "$BASE_URL"'/Client/app?$x' -u 'root:'"$SECRET" -H 'Content-Type: application/json' ` +
        `-d '{"secret":"'"$SECRET"'","name":"O'\\''Hara"}'`,
    );
  });

  it('shows a form field by field, for curl to encode', () => {
    const form = { grant_type: 'password', password: "it's $HOME" };
    const line = client.curlLine({ method: 'POST', path: '/auth/token', body: { form } }, variables);
    expect(line).toBe(
      `curl -sS -X POST "$BASE_URL"'/auth/token' ` +
        `--data-urlencode 'grant_type=password' --data-urlencode 'password='"$SECRET"`,
    );
  });

  const onPosix = process.platform === 'win32' ? it.skip : it;
  onPosix('means to a shell exactly the words that are sent', () => {
    const word = fc.string({ unit: fc.constantFrom('a', "'", '"', '$', '\\', ' ', '`', '!', '\n', '$SECRET') });
    fc.assert(
      fc.property(word, word, (before, after) => {
        const path = `/${before}it's $HOME${after}`;
        const line = client.curlLine({ method: 'GET', path }, variables);
        expect(wordsOf(line)).toEqual(['-sS', '-X', 'GET', `http://localhost:3000${path}`]);
      }),
      { numRuns: 30 },
    );
  });
});

/** Splits the line with a real shell, whose `curl` prints its arguments. */
function wordsOf(line: string): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }\n${line}`;
  return execFileSync('sh', ['-c', script], { env: Object.fromEntries(variables), encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}
