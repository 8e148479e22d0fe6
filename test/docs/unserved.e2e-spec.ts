import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UNSERVED_OPERATIONS } from '../../src/operation/unknown-operation';
import { type Received, type TestApp, startTestApp } from '../../testing/test-app';
import { rowsOf } from './documents';

const rows = rowsOf('docs/reference/open-points.md', 'Not served').map(
  ([what = '', instead = '']) => [what.replaceAll('`', ''), instead.replaceAll('`', '')] as const,
);
const operations = rows.filter(([what]) => what.startsWith('$'));

describe('the section "Not served" of docs/reference/open-points.md', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  const diagnosticsOf = (answer: Received): string =>
    answer.json<{ issue: { diagnostics: string }[] }>().issue[0]?.diagnostics ?? '';

  it('C11: lists the unserved operations of the server, and the most requested features', () => {
    expect(operations).toEqual([...UNSERVED_OPERATIONS].map(([code, instead]) => [`$${code}`, instead]));
    const names = rows.map(([what]) => what);
    for (const asked of ['$expand', '$lookup', '$validate-code', '$export', '$lastn', '$match', 'X-Provenance'])
      expect(names).toContain(asked);
    expect(names.join()).toContain('XML');
    expect(names).toContain('Binary as a file');
  });

  it.each(operations)('C11: lists %s with the remedy that the 404 response names', async (operation, instead) => {
    for (const path of [`/fhir/${operation}`, `/ValueSet/${operation}`, `/fhir/Patient/p1/${operation}`]) {
      const answer = await app.get(path);
      expect([answer.status, diagnosticsOf(answer)]).toEqual([
        404,
        `${operation} is not served. ${instead} More: docs/reference/open-points.md, "Not served".`,
      ]);
    }
  });

  it('C11: agrees with the server, which answers XML with 406 or 415', async () => {
    const xml = { headers: { 'Content-Type': 'application/fhir+xml' }, body: '<Patient/>' };
    const answers = [
      await app.get('/fhir/Patient?_format=xml'),
      await app.get('/fhir/metadata', { headers: { Accept: 'application/fhir+xml' } }),
      await app.send('POST', '/fhir/Patient', xml),
      await app.send('PATCH', '/fhir/Patient/p1', xml),
    ];
    expect(answers.map(({ status }) => status)).toEqual([406, 406, 415, 415]);
    for (const answer of answers)
      expect(diagnosticsOf(answer)).toContain('XML is not served: docs/reference/open-points');
    expect(diagnosticsOf(await app.get('/fhir/Patient?_format=turtle'))).not.toContain('XML');
  });

  it('C11: agrees with the server, which answers a file as a Binary with 406 or 415', async () => {
    const file = { headers: { 'Content-Type': 'application/pdf' }, body: '%PDF' };
    const answers = [
      await app.send('POST', '/fhir/Binary', file),
      await app.send('PUT', '/Binary/b1', file),
      await app.get('/fhir/Binary/b1', { headers: { Accept: 'application/pdf' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 406]);
    for (const answer of answers)
      expect(diagnosticsOf(answer)).toContain('A Binary has its content in data, as base64');
    expect(diagnosticsOf(await app.send('POST', '/fhir/Patient', file))).not.toContain('Binary');
  });
});
