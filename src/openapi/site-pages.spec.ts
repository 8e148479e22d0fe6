import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { readEnvironment } from '../platform/config/environment';
import { errorPages, sitePages } from './site-pages';

const SCRIPT = 'document.documentElement.classList.add("dark")';
const PAGE = `<html><script id="dark">${SCRIPT}</script><script type="module" src="/docs/assets/app.abc.js"></script></html>`;

describe('the pages of the documentation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-site-'));
  let server: Server;
  let url: string;

  beforeAll(async () => {
    mkdirSync(join(folder, 'how-to'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), PAGE);
    writeFileSync(join(folder, 'how-to', 'index.html'), '<html>how-to</html>');
    writeFileSync(join(folder, 'assets', 'app.abc.js'), 'export {}');
    writeFileSync(join(folder, 'secret.pem'), 'secret');
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `${name}.json`), JSON.stringify(name.repeat(4e6)));
    const app = express();
    const site = sitePages(readEnvironment({}), folder);
    if (site !== undefined) app.use(site.path, site.handler);
    app.use((_request, response) => void response.status(404).end());
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('allow the inline scripts of a page by their digests, and no style or other script', async () => {
    const page = await fetch(`${url}/docs/`);
    const digest = createHash('sha256').update(SCRIPT).digest('base64');
    expect([page.status, await page.text()]).toEqual([200, PAGE]);
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self' 'sha256-${digest}'; style-src 'self'; img-src 'self' data:; ` +
        `connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    const other = await fetch(`${url}/docs/how-to/`);
    expect(other.headers.get('content-security-policy')).toContain(`script-src 'self'; style-src`);
  });

  it('are cached for a year if their name contains their digest', async () => {
    const cached = async (path: string): Promise<string | null> =>
      (await fetch(`${url}/docs/${path}`)).headers.get('cache-control');
    expect(await cached('assets/app.abc.js')).toBe('public, max-age=31536000, immutable');
    expect(await cached('')).toBe('no-cache');
  });

  it('are sent whole even if they do not fit into the cache', async () => {
    for (const name of ['a', 'b', 'c', 'a', 'c']) {
      const text = await (await fetch(`${url}/docs/${name}.json`)).text();
      expect([text.length, text[1]]).toEqual([4e6 + 2, name]);
    }
  });

  it('redirect from the address without a trailing slash', async () => {
    const { status, headers } = await fetch(`${url}/docs`, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, 'docs/']);
  });

  it.each(['docs/none.html', 'docs/secret.pem', 'docs/..%2fsecret.pem', 'docs/how-to', 'docsx/', 'docs/assets/'])(
    'are the only files that are served: not %s',
    async (path) => {
      expect((await fetch(`${url}/${path}`)).status).toBe(404);
    },
  );

  it('are not served if they were not built, or if SVC_API_DOCS is off', () => {
    expect(sitePages(readEnvironment({}), join(folder, 'assets'))).toBeUndefined();
    expect(sitePages(readEnvironment({ SVC_API_DOCS: 'off' }), folder)).toBeUndefined();
    expect(sitePages(readEnvironment({}), folder)).toBeDefined();
  });

  it('include only the page of errors if the site was not built', () => {
    expect(errorPages(readEnvironment({}), folder)?.path).toBe('/docs');
    expect(errorPages(readEnvironment({ SVC_API_DOCS: 'off' }), folder)).toBeUndefined();
  });
});
