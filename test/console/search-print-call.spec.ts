import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { type AskedSearch, asClientCode, asCurl, shellWord } from '../../console/src/pages/search/print-call';

const HOSTILE = [
  "O'Hara",
  'a b',
  '$(touch /tmp/x) `id` $HOME "quoted" \\',
  '; rm -rf / #',
  'line\nbreak',
  'ü😀',
  '@/etc/passwd',
  '!!',
  '--next',
  '',
];

/** The arguments that a shell passes to curl, in order. */
const argumentsIn = (line: string): string[] => {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\nTOKEN=placeholder\n${line}`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
};

describe(shellWord, () => {
  it.each(HOSTILE)('passes %j through a shell unchanged', (text) => {
    expect(argumentsIn(`curl ${shellWord(text)}`)).toEqual([text]);
  });
});

describe(asCurl, () => {
  const search: AskedSearch = {
    type: 'Observation',
    parameters: [
      ['subject:Patient.family', "O'Hara"],
      ['.name.0.family$contains', 'a&b=c'],
      ['a&b =c', '@x'],
    ],
  };

  it('sends each parameter unchanged, with the token from the shell', () => {
    expect(argumentsIn(asCurl('http://h:3000', search))).toEqual([
      '-sS',
      '-G',
      'http://h:3000/fhir/Observation',
      '-H',
      'Authorization: Bearer placeholder',
      '--data-urlencode',
      "subject:Patient.family=O'Hara",
      '--data-urlencode',
      '.name.0.family$contains=a&b=c',
      '--data-urlencode',
      'a%26b+%3Dc=@x',
    ]);
  });

  it.each(HOSTILE)('executes nothing of the name or the value %j', (text) => {
    const line = asCurl('http://h', { type: 'Patient', parameters: [[text, text]] });
    expect(argumentsIn(line).at(-1)?.endsWith(`=${text}`)).toBe(true);
    expect(argumentsIn(line)).toHaveLength(7);
  });

  it('contains a placeholder in place of the token', () => {
    expect(asCurl('http://h', search)).toContain('"Authorization: Bearer $TOKEN"');
  });
});

describe(asClientCode, () => {
  const queryIn = (code: string): unknown => {
    const [, query = '{}'] = /client\.search\('Patient'(?:, ([\s\S]*))?\)\) console/.exec(code) ?? [];
    return JSON.parse(runInNewContext(`JSON.stringify(Object.entries(${query}))`) as string) as unknown;
  };

  it('prints a search of the typed client, with lists for repeated parameters', () => {
    expect(
      asClientCode('http://h:3000', {
        type: 'Observation',
        parameters: [
          ['code', 'a'],
          ['date', 'gt2020'],
          ['date', 'lt2021'],
          ['subject:Patient.family', "O'Hara"],
        ],
      }),
    ).toBe(`import { SvcClient } from 'svc-health-client';

const client = SvcClient.with({ baseUrl: 'http://h:3000' }, \`Bearer \${process.env.TOKEN}\`);
for await (const { id } of client.search('Observation', {
  code: 'a',
  date: ['gt2020', 'lt2021'],
  'subject:Patient.family': 'O\\'Hara',
})) console.log(id);
`);
  });

  it('omits the second argument without parameters', () => {
    expect(asClientCode('http://h', { type: 'Patient', parameters: [] })).toContain("client.search('Patient'))");
  });

  it.each([...HOSTILE, '__proto__', '${x}', '\\"', '\u2028'])('keeps the name and the value %j', (text) => {
    const code = asClientCode('http://h', { type: 'Patient', parameters: [[text, text]] });
    expect(queryIn(code)).toEqual([[text, text]]);
  });
});
