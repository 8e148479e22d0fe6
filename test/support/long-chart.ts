import { type TestApp } from '../../testing/test-app';

/**
 * Stores one Observation of a patient by HTTP, and copies of it by SQL, with bodies and links like the server's. The
 * n-th copy is `long-n`, one hour older than the copy before.
 */
export async function storeLongChart(app: TestApp, patientId: string, count: number): Promise<void> {
  const seed = `{"resourceType":"Observation","id":"long-0","status":"final","code":{"text":"Heart rate"},
    "subject":{"reference":"Patient/${patientId}"},"effectiveDateTime":"2026-01-05T10:00:00Z",
    "valueQuantity":{"value":71.50,"unit":"/min"},"note":[{"text":"${'Measured at rest. '.repeat(20)}"}]}`;
  const { status, text } = await app.put('/fhir/Observation/long-0', seed);
  if (status !== 201) throw new Error(text);
  const database = await app.connect();
  await database.query(
    `insert into resource (resource_key, main_date, updated_at, reference_hash, present, version, type, id, method, body)
       select resource_key + 1000000000 + n, main_date - n * interval '1 hour', updated_at - n * interval '1 second',
         reference_hash + n, present, version, type, 'long-' || n, method,
         replace(replace(body, '"id":"long-0"', '"id":"long-' || n || '"'), '2026-01-05T10:00:00Z',
           to_char((timestamp '2026-01-05 10:00' - n * interval '1 hour'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
       from resource, generate_series(1, $1::integer) n where type = 'Observation' and id = 'long-0'`,
    [count],
  );
  await database.query(
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select target_hash, main_date - n * interval '1 hour', resource_key + 1000000000 + n, parameter_id
       from reference_link, generate_series(1, $1::integer) n
       where resource_key = (select resource_key from resource where type = 'Observation' and id = 'long-0')`,
    [count],
  );
  await database.query('analyze resource, reference_link');
}

const ENTRIES_AT_ONCE = 100;

/** Stores a patient with Observations of 100 kB each by HTTP, for tests of streams. */
export async function storeHeavyChart(app: TestApp, patientId: string, count: number): Promise<void> {
  const observation = {
    ...{ resourceType: 'Observation', status: 'final', code: { text: 'x' }, note: [{ text: 'x'.repeat(100_000) }] },
    subject: { reference: `Patient/${patientId}` },
  };
  await app.put(`/fhir/Patient/${patientId}`, {});
  for (let at = 0; at < count; at += ENTRIES_AT_ONCE) {
    const entry = Array.from({ length: Math.min(ENTRIES_AT_ONCE, count - at) }, (_, n) => ({
      resource: observation,
      request: { method: 'PUT', url: `Observation/long-${at + n}` },
    }));
    const { status, text } = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    if (status !== 200) throw new Error(text);
  }
}
