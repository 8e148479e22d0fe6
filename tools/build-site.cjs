// Builds the documentation site into dist/site: the pages of this repository, and a page per operation and RPC method
// from a server's OpenAPI document. The site works offline; `npm run docs -- --preview` serves it.
const { execFileSync } = require('node:child_process');
const { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, posix } = require('node:path');
const { sitePathOf } = require('../site/site-paths.cjs');
const { describedPages } = require('./described-pages.cjs');
const { withServer } = require('./with-server.cjs');

const root = join(__dirname, '..');
const site = join(root, 'site');
const pages = join(site, 'pages');
const COPIED = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'client/README.md', 'docs'];
const run = (...words) => execFileSync('npm', words, { cwd: site, stdio: 'inherit' });

/** Copies the pages into the folder of the generator, which resolves packages only for pages in that folder. */
function writePages(document) {
  rmSync(pages, { recursive: true, force: true });
  for (const name of COPIED) {
    mkdirSync(dirname(join(pages, name)), { recursive: true });
    cpSync(join(root, name), join(pages, name), { recursive: true });
  }
  for (const report of ['public-api.api.md', 'testing-api.api.md']) rmSync(join(pages, 'docs/reference', report));
  const { groups, overview } = describedPages(document);
  mkdirSync(join(pages, 'api'));
  writeFileSync(join(pages, 'api', 'index.md'), overview);
  const sidebar = groups.map(({ name, pages: inGroup }) => ({
    text: name,
    collapsed: true,
    items: inGroup.map((one) => ({ text: `${one.name}<small>${one.summary}</small>`, link: `/api/${one.page}` })),
  }));
  for (const { page, content } of groups.flatMap((group) => group.pages))
    writeFileSync(join(pages, 'api', `${page}.md`), `${content}\n`);
  writeFileSync(join(pages, 'api', 'sidebar.json'), JSON.stringify(sidebar));
}

/** Refuses links to files and headings that do not exist. VitePress itself only refuses links to missing pages. */
function checkLinks(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  const pages = new Map(
    files.filter((name) => name.endsWith('.html')).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const ids = new Map(
    [...pages].map(([name, html]) => [name, new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const base = process.env.SITE_BASE ?? '/docs/';
  const dead = [...pages].flatMap(([name, html]) =>
    [...html.matchAll(/\bhref="([^"]+)"/g)].flatMap(([, href]) => {
      const { pathname, hash, origin } = new globalThis.URL(href.replaceAll('&amp;', '&'), `http://site${base}${name}`);
      if (origin !== 'http://site') return [];
      const path = decodeURI(pathname);
      const target = path.startsWith(base)
        ? path.slice(base.length).replace(/(^|\/)$/, '$1index.html')
        : posix.normalize(path);
      const id = decodeURIComponent(hash.slice(1));
      const isAlive = files.includes(target) && (id === '' || ids.get(target)?.has(id) === true);
      return isAlive ? [] : [`${name}: ${href}`];
    }),
  );
  if (dead.length > 0) throw new Error(`Dead links:\n${[...new Set(dead)].join('\n')}`);
}

/**
 * Checks that text such as `{{path}}` is still in its page. VitePress evaluates it outside of code, and drops it if
 * that fails.
 */
function checkBraces(folder) {
  const sources = readdirSync(pages, { recursive: true }).filter((name) => name.endsWith('.md'));
  const lost = sources.flatMap((name) => {
    const prose = readFileSync(join(pages, name), 'utf8').replace(/^( *)```[^]*?^\1```$/gm, '');
    const html = readFileSync(join(folder, sitePathOf(name).replace(/md$/, 'html')), 'utf8');
    return [...prose.matchAll(/\{\{[^}]+\}\}/g)]
      .filter(([text]) => !html.includes(text))
      .map(([text]) => `${name}: ${text}`);
  });
  if (lost.length > 0) throw new Error(`The site lacks text:\n${lost.join('\n')}`);
}

async function main() {
  await withServer({}, async (url) => {
    const document = await globalThis.fetch(`${url}/api-json`);
    writePages(await document.json());
  });
  run('ci', '--no-audit', '--no-fund');
  run('run', '-s', 'build');
  const built = join(root, 'dist', 'site');
  checkLinks(built);
  checkBraces(built);
  if (process.argv.includes('--preview')) run('run', '-s', 'preview');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
