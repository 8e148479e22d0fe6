import { describe, expect, it } from '@jest/globals';
import {
  faultsOf,
  fieldOf,
  MASK,
  newDestination,
  newSecret,
  secretsOf,
  settingsOf,
  withSecrets,
  withSettings,
} from './settings';

const destination = {
  resourceType: 'SvcTopicDestination',
  id: 'hook',
  meta: { profile: ['https://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
  kind: 'webhook-at-least-once',
  topic: 'https://clinic.example/topics/a',
  parameter: [
    { name: 'endpoint', valueUrl: 'https://hook.example/in?key=***' },
    { name: 'timeout', valueUnsignedInt: 10 },
    { name: 'header', valueString: 'Authorization: ***' },
    { name: 'secret', valueString: '***' },
  ],
} as const;
const stored = destination as unknown as Parameters<typeof settingsOf>[0];

describe('settings of a webhook', () => {
  it('are stored unchanged if nothing is edited: each mask keeps its secret', () => {
    const settings = settingsOf(stored);
    expect(settings).toMatchObject({ endpoint: 'https://hook.example/in?key=***', timeout: '10', keepAlive: '' });
    expect(withSettings(stored, settings).parameter).toEqual(destination.parameter);
  });

  it('keep parameters that the page does not support, and the other members of edited parameters', () => {
    const parameter = [
      { name: 'endpoint', valueUrl: 'https://hook.example/in', extension: [{ url: 'urn:owner', valueString: 'team' }] },
      { name: 'header', valueString: 'X-Key: ***', id: 'key' },
      { name: 'headerPrefix', valueString: 'acme' },
    ];
    const known = { ...stored, parameter } as typeof stored;
    expect(withSettings(known, settingsOf(known)).parameter).toEqual(parameter);
  });

  it('replace the value of each header by the mask', () => {
    const shown = { ...stored, parameter: [{ name: 'header', valueString: 'Authorization: Bearer geheim' }] };
    expect(settingsOf(shown).headers).toEqual([{ name: 'Authorization', value: MASK }]);
    expect(JSON.stringify(withSecrets(shown, ['new', MASK]))).not.toContain('geheim');
  });

  it('put a new secret before the secret in force on a rotation', () => {
    const rotating = withSecrets(stored, ['whsec_new', MASK]);
    expect(rotating.parameter?.slice(-2).map(({ valueString }) => valueString)).toEqual(['whsec_new', '***']);
    expect([secretsOf(stored), secretsOf(rotating), secretsOf(withSecrets(rotating, [MASK]))]).toEqual([1, 2, 1]);
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSecret()).not.toBe(newSecret());
  });
});

describe(newDestination.name, () => {
  it('contains the typed values, then the secret, and the profile of the kind', () => {
    const settings = { ...settingsOf(stored), endpoint: 'https://hook.example/in' };
    const made = newDestination('new', { ...settings, headers: [{ name: 'X-Key', value: 'k' }] }, 'whsec_new');
    expect(made).toMatchObject({ id: 'new', meta: destination.meta, kind: destination.kind, topic: destination.topic });
    expect(made.parameter).toEqual([
      { name: 'endpoint', valueUrl: 'https://hook.example/in' },
      { name: 'timeout', valueUnsignedInt: 10 },
      { name: 'header', valueString: 'X-Key: k' },
      { name: 'secret', valueString: 'whsec_new' },
    ]);
  });
});

describe(faultsOf.name, () => {
  const settings = settingsOf(stored);
  it.each([
    ['endpoint', 'hook.example'],
    ['endpoint', 'ftp://hook.example'],
    ['endpoint', 'https://user:secret@hook.example'],
    ['timeout', '0'],
    ['timeout', '1.5'],
    ['maxMessagesInBatch', '10001'],
    ['topic', ''],
  ] as const)('reports a fault of %s for the value "%s"', (name, value) => {
    expect(Object.keys(faultsOf({ ...settings, [name]: value }))).toEqual([name]);
  });

  it('reports no fault of valid settings', () => {
    expect(faultsOf({ ...settings, keepAlive: '-1' })).toEqual({});
  });
});

describe(fieldOf.name, () => {
  it.each([
    ['timeout must be a whole number from 1 to 86400.', 'timeout'],
    ['*** in the query of endpoint keeps a stored value', 'endpoint'],
    ['A header has no colon: write "Name: value".', 'headers'],
    ['Something else.', undefined],
  ])('finds the field of the message "%s"', (message, field) => {
    expect(fieldOf(message)).toBe(field);
  });
});
