import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { idsOn } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** Numbers of 15 digits and more, which a double holds only in part. */
const LONG = ['1234567.12345678', '3.141592653589793', '0.123456789012345', '1234567890123456', '9007199254740993'];

const UCUM = 'http://unitsofmeasure.org';
const UNITS = [
  ['insulin', '5', 'u[IU]/mL'],
  ['glasses', '2.5', '[diop]'],
  ['mass', '7654321.12345678', 'kg'],
] as const;

describe('numbers and their units', () => {
  let app: TestApp;

  const store = async (id: string, quantity: string): Promise<void> => {
    const body = `{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},"valueQuantity":${quantity}}`;
    expect((await app.put(`/fhir/Observation/${id}`, body)).status).toBe(201);
  };

  beforeAll(async () => {
    app = await startTestApp();
    for (const [index, value] of LONG.entries()) await store(`long-${index}`, `{"value":${value}}`);
    for (const [id, value, code] of UNITS) await store(id, `{"value":${value},"system":"${UCUM}","code":"${code}"}`);
  });
  afterAll(() => app.close());

  it.each(LONG.map((value, index) => [value, `long-${index}`] as const))(
    'finds %s by all of its digits',
    async (text, id) => {
      expect(await idsOn(app, `/fhir/Observation?value-quantity=${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?_filter=value-quantity eq ${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?value-quantity=ge${text}&value-quantity=le${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?value-quantity=ne${text}`)).not.toContain(id);
    },
  );

  it.each([
    ['5|UCUM|u[IU]/mL', ['insulin']],
    ['5|UCUM|u[iU]/mL', ['insulin']],
    ['5|UCUM|m[IU]/L', ['insulin']],
    ['0.005|UCUM|[iU]/L', ['insulin']],
    ["5|UCUM|u[arb'U]/mL", []],
    ['gt0|UCUM|g/L', []],
    ['2.5|UCUM|/m', ['glasses']],
    ['2.5|UCUM|m', []],
    ['7654321123.45678|UCUM|g', ['mass']],
    ['ne7654321123.45678|UCUM|g', []],
  ])('finds %s in equivalent units', async (value, ids) => {
    const sent = encodeURIComponent(value.replace('UCUM', UCUM));
    expect(await idsOn(app, `/fhir/Observation?value-quantity=${sent}`)).toEqual(ids);
  });
});
