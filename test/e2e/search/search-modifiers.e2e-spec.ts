import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** Each modifier of R4 (http://hl7.org/fhir/R4/search.html#modifiers) and some unknown ones, with a value. */
const VALUES: Readonly<Record<string, string>> = {
  missing: 'true',
  exact: 'a',
  contains: 'a',
  text: 'a',
  not: 'a',
  above: 'http://a.example/b',
  below: 'http://a.example/b',
  in: 'http://a.example/codes',
  'not-in': 'http://a.example/codes',
  'of-type': 'http://a.example|MR|1',
  identifier: 'http://a.example|1',
  Patient: 'p1',
  'code-text': 'a',
  'text-advanced': 'a',
  iterate: 'a',
  '': 'a',
};

/** A parameter of each kind, with its allowed modifiers; all others are refused. */
const TAKES: readonly (readonly [kind: string, parameter: string, modifiers: readonly string[]])[] = [
  ['string', 'Patient?family', ['missing', 'exact', 'contains']],
  ['token', 'Patient?identifier', ['missing', 'text', 'not', 'in', 'not-in', 'of-type']],
  ['reference', 'Observation?subject', ['missing', 'identifier', 'Patient', 'not']],
  ['date', 'Patient?birthdate', ['missing']],
  ['number', 'RiskAssessment?probability', ['missing']],
  ['quantity', 'Observation?value-quantity', ['missing']],
  ['uri', 'ValueSet?url', ['missing', 'above', 'below', 'not']],
  ['composite', 'Observation?code-value-quantity', []],
  ['special', 'Location?near', ['missing']],
];

describe('modifiers', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/ValueSet/codes', {
      url: 'http://a.example/codes',
      status: 'active',
      compose: { include: [{ system: 'http://a.example', concept: [{ code: 'a' }] }] },
    });
  });
  afterAll(() => app.close());

  it.each(TAKES)('of a %s parameter (%s) are supported or refused by name', async (_kind, parameter, taken) => {
    for (const [modifier, value] of Object.entries(VALUES)) {
      const answer = await app.get(`/fhir/${parameter}:${modifier}=${encodeURIComponent(value)}`);
      const isTaken = taken.includes(modifier);
      expect([modifier, answer.status]).toEqual([modifier, isTaken ? 200 : 400]);
      if (!isTaken) expect(answer.text).toContain(parameter.split('?')[1]);
    }
  });

  it.each(['Patient?family:abo=x', 'Patient?gender:abo=x', 'Observation?subject:abo=x', 'ValueSet?url:abo=x'])(
    'that are unknown are refused with the supported ones: %s',
    async (query) => {
      const answer = await app.get(`/fhir/${query}`);
      expect(answer.text).toMatch(/known: .*:missing/);
    },
  );
});
