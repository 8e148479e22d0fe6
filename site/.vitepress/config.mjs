import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { defineConfig } from 'vitepress';

const root = join(import.meta.dirname, '../pages');
const textOf = (path) => readFileSync(join(root, path), 'utf8');
const linkOf = (path) => `/${path.replace(/(^|\/)README\.md(?=#|$)/, '$1').replace(/\.md(?=#|$)/, '')}`;

/** The sidebar is the index of docs/README.md: a group for each of its headings, an item for each link. */
const index = textOf('docs/README.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.split('\n')[0],
    items: [...section.matchAll(/\[([^\]]+)\]\(([^)]+\.md(?:#[^)]*)?)\)/g)].map(([, text, target]) => ({
      text: text.replaceAll('`', ''),
      link: linkOf(posix.normalize(`docs/${target}`)),
    })),
  }));

const decisions = readdirSync(join(root, 'docs/adr'))
  .sort()
  .map((name) => ({ text: /^# (.*)$/m.exec(textOf(`docs/adr/${name}`))[1], link: linkOf(`docs/adr/${name}`) }));

const api = JSON.parse(textOf('api/sidebar.json'));

/** Links to sources and folders of the repository are shown as text: the site has no pages for them. */
const unlinkFiles = (md) => {
  md.core.ruler.push('unlink-files', ({ tokens }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      for (let at = 0; at < children.length; at++) {
        const href = children[at].type === 'link_open' ? (children[at].attrGet('href') ?? '') : '#';
        // A README is the index of its folder here.
        if (/README\.md(#|$)/.test(href)) children[at].attrSet('href', href.replace('README.md', 'index.md'));
        if (/^(\w+:|#|\/)|\.md(#|$)/.test(href)) continue;
        const end = children.findIndex(({ type }, index) => index > at && type === 'link_close');
        if (/(^|\/)adr\/?$/.test(href)) children[at].attrSet('href', decisions[0].link);
        else {
          children.splice(end, 1);
          children.splice(at, 1);
        }
      }
    }
  });
};

/** Vue would evaluate `{{path}}` in inline code, and leave a page empty where the path is undefined. */
const keepBraces = (md) => {
  const inlineCode = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (...args) => inlineCode(...args).replace('<code', '<code v-pre');
};

/** As GitHub names headings, so that one anchor works in the repository and on the site. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');

/** The server allows no style attributes: colors of code become classes of `code.css`. */
const colors = transformerStyleToClass();
const base = process.env.SITE_BASE ?? '/docs/';

export default defineConfig({
  title: 'Healthcare data server',
  description: 'FHIR R4, tokens and sessions, addenda, $everything and webhooks on PostgreSQL',
  base,
  head: [['link', { rel: 'stylesheet', href: `${base}code.css` }]],
  metaChunk: true,
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md', 'client/README.md': 'client/index.md' },
  outDir: '../dist/site',
  ignoreDeadLinks: 'localhostLinks',
  cleanUrls: false,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'All pages', link: '/docs/' },
      { text: 'Routes', link: '/docs/reference/routes' },
      { text: 'Settings', link: '/docs/reference/settings' },
    ],
    sidebar: [
      ...index,
      { text: 'API', collapsed: true, items: api },
      { text: 'Decisions', collapsed: true, items: decisions },
    ],
  },
  markdown: {
    config: (md) => {
      unlinkFiles(md);
      keepBraces(md);
    },
    anchor: { slugify },
    codeTransformers: [colors],
  },
  transformHtml: (html) => html.replace(/(<[^<>]*?) style="(?:position:relative|--vp-vh:0px);"/g, '$1'),
  buildEnd: ({ outDir }) => {
    writeFileSync(join(outDir, 'code.css'), `${colors.getCSS()}\n.vp-doc{position:relative}`);
  },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
});
