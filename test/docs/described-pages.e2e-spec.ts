import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../testing/test-app';

interface Page {
  readonly page: string;
  readonly name: string;
  readonly summary: string;
  readonly content: string;
}

const { describedPages } = createRequire(__filename)('../../tools/described-pages.cjs') as {
  readonly describedPages: (document: object) => { readonly groups: readonly { readonly pages: readonly Page[] }[] };
};

describe('the site pages of operations and RPC methods', () => {
  let app: TestApp;
  let pages: ReadonlyMap<string, Page>;
  let operations: number;

  beforeAll(async () => {
    app = await startTestApp();
    const document = (await app.get('/api-json')).json<{
      paths: Record<string, Record<string, { operationId?: string }>>;
    }>();
    pages = new Map(describedPages(document).groups.flatMap((group) => group.pages.map((page) => [page.page, page])));
    operations = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => operationId !== undefined).length;
  });
  afterAll(() => app.close());

  const textOf = (page: string): string => pages.get(page)?.content ?? '';

  it('exist once for each operation and RPC method, with method, path and summary', () => {
    const requests = [...pages.values()].filter(({ name }) => !name.startsWith('RPC '));
    expect(requests).toHaveLength(operations);
    for (const { content, name, summary } of pages.values()) {
      expect(content).toMatch(/^# `(?:GET \/|POST \/|PUT \/|PATCH \/|DELETE \/|RPC svc)[^`]*`\n\n\S/);
      expect([name, summary]).not.toContain('');
    }
  });

  it('list parameters, nested members, and members of responses', () => {
    expect(textOf('read')).toContain('| `If-None-Match` | header |');
    expect(textOf('putClientById')).toContain('| `auth.password.token_expiration` |');
    expect(textOf('getSvcTopicDestinationOverview')).toContain('| `destination.lastError.message` | valueString |');
    expect(textOf('postAuthToken')).toMatch(/### Body of 400\n\n.*\n.*\n\| `error` \(required\)/);
    expect(textOf('svc.sdc-sign')).toContain('| `document.patient` | `{resourceType, id}` |');
    expect(textOf('putAccessPolicyById')).toMatch(/\| `engine` \| string \| allow, matcho/);
    expect(textOf('putPatientById')).toContain('[Patient](https://hl7.org/fhir/R4/patient.html)');
  });
});
