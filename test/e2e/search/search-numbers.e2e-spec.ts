import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { idsOn } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** Numbers of 15 digits and more, which a double holds only in part. */
const LONG = ['1234567.12345678', '3.141592653589793', '0.123456789012345', '1234567890123456', '9007199254740993'];

describe('numbers and their units', () => {
  let app: TestApp;

  const store = async (id: string, quantity: string): Promise<void> => {
    const body = `{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},"valueQuantity":${quantity}}`;
    expect((await app.put(`/fhir/Observation/${id}`, body)).status).toBe(201);
  };

  beforeAll(async () => {
    app = await startTestApp();
    for (const [index, value] of LONG.entries()) await store(`long-${index}`, `{"value":${value}}`);
  });
  afterAll(() => app.close());

  it.each(LONG.map((value, index) => [value, `long-${index}`] as const))(
    'finds %s by its own digits',
    async (text, id) => {
      expect(await idsOn(app, `/fhir/Observation?value-quantity=${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?_filter=value-quantity eq ${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?value-quantity=ge${text}&value-quantity=le${text}`)).toEqual([id]);
      expect(await idsOn(app, `/fhir/Observation?value-quantity=ne${text}`)).not.toContain(id);
    },
  );
});
