import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';

const root = join(import.meta.dirname, '../pages');
const titleOf = (path) => /^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path;
const page = (path, text = titleOf(path)) => ({
  text,
  link: `/${path.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')}`,
});

const decisions = readdirSync(join(root, 'docs/adr'))
  .sort()
  .map((name) => page(`docs/adr/${name}`));

const api = JSON.parse(readFileSync(join(root, 'api/sidebar.json'), 'utf8'));

/** Links to sources and folders of the repository are shown as text: the site has no pages for them. */
const unlinkFiles = (md) => {
  md.core.ruler.push('unlink-files', ({ tokens }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      for (let at = 0; at < children.length; at++) {
        const href = children[at].type === 'link_open' ? (children[at].attrGet('href') ?? '') : '#';
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

export default defineConfig({
  title: 'Healthcare data server',
  description: 'FHIR R4, tokens and sessions, addenda, $everything and webhooks on PostgreSQL',
  base: process.env.SITE_BASE ?? '/docs/',
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
      { text: 'Routes', link: '/docs/interface/reference' },
      { text: 'Operations', link: '/docs/operations' },
    ],
    sidebar: [
      {
        text: 'Tutorials',
        items: [
          page('README.md', 'Five minutes by curl'),
          page('docs/extending.md', 'A server of your own'),
          page('client/README.md', 'The typed client'),
        ],
      },
      {
        text: 'How-to',
        items: [page('docs/operations.md'), page('docs/upgrading.md'), page('CONTRIBUTING.md'), page('SECURITY.md')],
      },
      {
        text: 'Reference',
        items: [
          page('docs/interface/reference.md'),
          ...['search', 'fhirpath', 'tokens', 'addenda', 'everything', 'topics', 'destinations', 'audit'].map((name) =>
            page(`docs/${name}.md`),
          ),
          page('docs/interface/open-points.md'),
          page('CHANGELOG.md'),
        ],
      },
      {
        text: 'Explanation',
        items: [
          'architecture',
          'internals/storage',
          'internals/requests',
          'internals/search',
          'security',
          'reliability',
          'performance',
        ].map((name) => page(`docs/${name}.md`)),
      },
      { text: 'API', collapsed: true, items: api },
      { text: 'Decisions', collapsed: true, items: decisions },
    ],
  },
  markdown: { config: unlinkFiles },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
});
