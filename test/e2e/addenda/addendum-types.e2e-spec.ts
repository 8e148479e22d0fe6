import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const TYPES = [
  {
    type: 'acme.sdc/Handover',
    required: ['ward', 'appointment', 'user'],
    properties: {
      ward: { type: 'string', pattern: '^[0-9]+[A-Z]$' },
      appointment: { type: 'string', format: 'date-time' },
      beds: { type: 'array', items: { type: 'object', required: ['no'], properties: { no: { type: 'integer' } } } },
      urgency: { enum: ['low', 'high'] },
    },
  },
  { type: 'acme.sdc/Anything' },
];

describe('SVC_ADDENDUM_TYPES', () => {
  let folder: string;
  let app: TestApp;
  const target = { id: 'd1', resourceType: 'SDCDocument' };
  const user = { id: 'doc-1', resourceType: 'User' };
  const handover = { type: 'acme.sdc/Handover', target, user, ward: '4B', appointment: '2026-01-31T10:00:00Z' };

  const fileOf = async (content: string): Promise<string> => {
    const file = join(folder, 'types.json');
    await writeFile(file, content);
    return file;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-types-'));
    app = await startTestApp({ environment: { SVC_ADDENDUM_TYPES: await fileOf(JSON.stringify(TYPES)) } });
    await app.put('/SDCDocument/d1', { resourceType: 'SDCDocument', status: 'draft' });
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const create = async (addendum: object | string): Promise<{ status: number; text: string; body: unknown }> => {
    const text = typeof addendum === 'string' ? addendum : JSON.stringify(addendum);
    const answer = await app.post(
      '/rpc',
      `{"method":"svc.sdc.addendum/create-addendum","params":{"addendum":${text}}}`,
    );
    return { status: answer.status, text: answer.text, body: answer.json() };
  };
  const count = async (): Promise<number> => (await app.get('/SDCAddendum?_count=0')).json<{ total: number }>().total;

  it('stores an addendum with the members that its type requires and others, digit by digit', async () => {
    const sent = JSON.stringify({ ...handover, beds: [{ no: 1 }], urgency: 'low' });
    const { status, text } = await create(`${sent.slice(0, -1)},"dose":{"value":1.10}}`);
    expect([status, text.includes('"dose":{"value":1.10}'), text.includes('"ward":"4B"')]).toEqual([200, true, true]);
  });

  it.each<[string, object, readonly (readonly [readonly string[], string])[]]>([
    [
      'all missing members, including those that every addendum requires',
      { type: 'acme.sdc/Handover', target },
      [
        [['user'], 'user is required'],
        [['ward'], 'ward is required'],
        [['appointment'], 'appointment is required'],
      ],
    ],
    [
      'all wrong members, each once',
      { ...handover, ward: 7, beds: [{ no: 1 }, { no: 'x' }], urgency: 'soon' },
      [
        [['ward'], 'ward must be string'],
        [['beds', '1', 'no'], 'no must be integer'],
        [['urgency'], 'urgency must be equal to one of the allowed values: "low", "high"'],
      ],
    ],
    ['a violated pattern', { ...handover, ward: '4b' }, [[['ward'], 'ward must match pattern "^[0-9]+[A-Z]$"']]],
    ['a missing nested member', { ...handover, beds: [{}] }, [[['beds', '0'], "0 must have required property 'no'"]]],
    ['null', { ...handover, ward: null }, [[['ward'], 'ward must be string']]],
    ['a long text', { ...handover, ward: '1'.repeat(1_000_000) }, [[['ward'], 'ward is too long for its pattern']]],
    [
      'a date instead of a date-time',
      { ...handover, appointment: '2026-01-31' },
      [[['appointment'], 'appointment must match format "date-time"']],
    ],
    [
      'a missing member even if the addendum has a member "toString"',
      { ...handover, toString: 1, ward: undefined },
      [[['ward'], 'ward is required']],
    ],
  ])('reports %s', async (_what, addendum, faults) => {
    const before = await count();
    const errors = faults.map(([path, message]) => ({ path: ['addendum', ...path], message }));
    expect((await create(addendum)).body).toEqual({
      error: { message: 'Invalid params', type: 'rpc-params-invalid', errors },
    });
    expect(await count()).toBe(before);
  });

  it('reports only the first fault of a long list', async () => {
    const beds = Array.from({ length: 100_000 }, () => ({ no: 'x' }));
    expect((await create({ ...handover, beds })).body).toEqual({
      error: {
        message: 'Invalid params',
        type: 'rpc-params-invalid',
        errors: [{ path: ['addendum', 'beds', '0', 'no'], message: 'no must be integer' }],
      },
    });
  });

  it('does not restrict types that it does not list, or lists without requirements', async () => {
    for (const type of ['acme.sdc/Anything', 'acme.sdc/Else', 'constructor', '__proto__']) {
      expect((await create({ type, target, user, ward: 7 })).status).toBe(200);
    }
  });

  it.each<[string, string, RegExp]>([
    ['is not JSON', '[{"type":', /types\.json: Malformed JSON/],
    [
      'has faults',
      '[{"type":"svc.sdc.addendum/Amendment","reqired":[]}]',
      /\[0\]\.reqired .*Did you mean "required"[^]*\[0\]\.type is a kind/,
    ],
  ])('that %s stops the start, and the error names the file', async (_what, content, message) => {
    const environment = { SVC_ADDENDUM_TYPES: await fileOf(content) };
    await expect(startTestApp({ environment, databaseUrl: app.databaseUrl })).rejects.toThrow(message);
  });

  it('that is missing stops the start', async () => {
    const environment = { SVC_ADDENDUM_TYPES: join(folder, 'gone.json') };
    await expect(startTestApp({ environment, databaseUrl: app.databaseUrl })).rejects.toThrow(
      /^SVC_ADDENDUM_TYPES .*ENOENT/,
    );
  });
});
