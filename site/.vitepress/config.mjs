import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { defineConfig } from 'vitepress';
import { sitePathOf } from '../site-paths.cjs';

const root = join(import.meta.dirname, '../pages');
const textOf = (path) => readFileSync(join(root, path), 'utf8');

/** The address on the site of a page of the repository, such as `docs/reference/search.md#dates`. */
function linkOf(target) {
  const [path, anchor] = target.split('#');
  const page = sitePathOf(path)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '');
  return `/${page}${anchor === undefined ? '' : `#${anchor}`}`;
}

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
  .filter((name) => name !== 'README.md')
  .sort()
  .map((name) => ({
    text: /^# (.*)$/m.exec(textOf(`docs/adr/${name}`))[1].replaceAll('`', ''),
    link: linkOf(`docs/adr/${name}`),
  }));

const api = JSON.parse(textOf('api/sidebar.json'));

/**
 * Links between pages get their address on the site. Links to sources and folders of the repository are shown as text:
 * the site has no pages for them.
 */
const linkPages = (md) => {
  md.core.ruler.push('link-pages', ({ tokens, env }) => {
    const folder = posix.dirname(relative(root, env.realPath ?? env.path).replaceAll('\\', '/'));
    for (const { children } of tokens) {
      if (children === null) continue;
      for (let at = 0; at < children.length; at++) {
        const href = children[at].type === 'link_open' ? (children[at].attrGet('href') ?? '') : '#';
        if (/^(\w+:|#|\/)/.test(href)) continue;
        const end = children.findIndex(({ type }, index) => index > at && type === 'link_close');
        if (/\.md(#|$)/.test(href)) children[at].attrSet('href', linkOf(posix.join(folder, href)));
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

/** Wide tables: long names break, and the text may use the room beside it. */
const STYLE = [
  '.vp-doc{position:relative}',
  '.vp-doc td code{white-space:normal;overflow-wrap:anywhere}',
  '.VPDoc.has-aside .content-container{max-width:100% !important}',
  '.VPSidebarItem small{display:block}',
  ':root{--vp-layout-max-width:1680px}',
].join('');

/** The server allows no style attributes: colors of code become classes of `code.css`. */
const colors = transformerStyleToClass();
const base = process.env.SITE_BASE ?? '/docs/';

export default defineConfig({
  title: 'Healthcare data server',
  description: 'FHIR R4, tokens and sessions, addenda, $everything and webhooks on PostgreSQL',
  base,
  head: [
    ['link', { rel: 'stylesheet', href: `${base}code.css` }],
    // Without it a browser asks for /favicon.ico, which is no page of the site.
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  metaChunk: true,
  srcDir: 'pages',
  rewrites: sitePathOf,
  outDir: '../dist/site',
  ignoreDeadLinks: 'localhostLinks',
  cleanUrls: false,
  // Vue would add a style element while it switches colors, and the server allows no inline styles.
  appearance: { disableTransition: false },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    // Pages are no book: an item may lead into another page, and the pager would not know which is next.
    docFooter: { prev: false, next: false },
    nav: [
      { text: 'API', link: '/api/' },
      { text: 'All pages', link: '/all-pages' },
      { text: 'Routes', link: '/reference/routes' },
      { text: 'Settings', link: '/reference/settings' },
    ],
    sidebar: [
      ...index,
      { text: 'API', link: '/api/', collapsed: true, items: api },
      { text: 'Decisions', collapsed: true, items: decisions },
    ],
  },
  markdown: {
    config: (md) => {
      linkPages(md);
      keepBraces(md);
    },
    anchor: { slugify },
    codeTransformers: [colors],
  },
  transformHtml: (html) => html.replace(/(<[^<>]*?) style="(?:position:relative|--vp-vh:0px);"/g, '$1'),
  buildEnd: ({ outDir }) => {
    writeFileSync(join(outDir, 'code.css'), `${colors.getCSS()}\n${STYLE}`);
  },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
});
