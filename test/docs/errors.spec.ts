import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { FHIR_ERRORS } from '../../src/fhir/edge/operation-outcome';
import { ERROR_CODES, errorPageOf } from '../../src/platform/errors/error-codes';
import { textOf } from './documents';

const { sitePathOf } = createRequire(__filename)('../../site/site-paths.cjs') as {
  readonly sitePathOf: (path: string) => string;
};

const { errorsPage } = createRequire(__filename)('../../tools/errors-page.cjs') as {
  readonly errorsPage: (markdown: string) => string;
};

interface Documented {
  /** Heading of the group, such as `404 Not Found`. */
  readonly group: string;
  readonly text: string;
}

/** Codes of the page, each with its group and text. */
function documentedCodes(): Map<string, Documented> {
  const groups = textOf('docs/reference/errors.md').split(/^## /m).slice(1);
  return new Map(
    groups.flatMap((text) => {
      const [head = '', ...sections] = text.split(/^### /m);
      return sections.map((section): [string, Documented] => {
        const [code = '', ...lines] = section.split('\n');
        return [code, { group: head.trim(), text: lines.join('\n') }];
      });
    }),
  );
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.spec\.ts$|error-codes\.ts$/.test(name))
  .map((name) => readFileSync(`src/${name}`, 'utf8'))
  .join('\n');

describe('docs/reference/errors.md', () => {
  const documented = documentedCodes();

  it('lists exactly the codes of the catalogue', () => {
    expect([...documented.keys()].sort()).toEqual([...ERROR_CODES.keys()].sort());
  });

  it.each([...documented])('explains cause and remedy of %s', (_, { text }) => {
    expect(text.trim()).toMatch(/^- \*\*Cause\*\*: \S.+\n(?: {2}.+\n)*- \*\*Remedy\*\*: \S.+(?:\n {2}.+)*$/);
  });

  it.each([...ERROR_CODES])('lists %s under the status of its kind', (code, kind) => {
    const status = kind === undefined ? '(?:500|OAuth)' : String(FHIR_ERRORS[kind].status);
    // Node itself refuses a request with too large headers with 431, so this code has no kind.
    expect(documented.get(code)?.group).toMatch(new RegExp(`^${code === 'headers-too-large' ? '431' : status} `));
  });

  it('lists each code under one status: no source passes a code to a ServiceError directly', () => {
    expect(sources.match(/new ServiceError\([^;]*?\bcode: '.*/g)).toBeNull();
  });

  it('is the page that error responses link to', () => {
    const [, base = ''] = /SITE_BASE \?\? '([^']+)'/.exec(textOf('site/.vitepress/config.mjs')) ?? [];
    const page = sitePathOf('docs/reference/errors.md').replace(/md$/, 'html');
    expect(errorPageOf('https://svc.example', 'busy')).toBe(`https://svc.example${base}${page}#busy`);
  });

  it('becomes a page with each code, cause and remedy, for servers without the site', () => {
    const page = errorsPage(textOf('docs/reference/errors.md'));
    for (const code of ERROR_CODES.keys())
      expect(page).toMatch(
        new RegExp(`<h3 id="${code}">${code}</h3>\n<ul>\n<li><strong>Cause.+</li>\n<li><strong>Remedy.+</li>\n</ul>`),
      );
  });

  it('lists exactly the older RPC types', () => {
    const listed = [...textOf('docs/reference/errors.md').matchAll(/RPC `type`:\s+`([^`]+)`/g)].map(([, type]) => type);
    const inCode = [...sources.matchAll(/type: '((?:sdc|rpc)\.error\/[^']+)'/g)].map(([, type]) => type);
    expect(listed.sort()).toEqual(inCode.sort());
  });
});

describe('the catalogue of errors', () => {
  it.each([...ERROR_CODES.keys()])('contains only codes that the server uses: %s', (code) => {
    expect(sources.includes(`'${code}'`)).toBe(true);
  });
});
