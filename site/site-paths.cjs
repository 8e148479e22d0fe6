/** The indexes of folders; GitHub calls them README. */
const INDEXES = {
  'README.md': 'index.md',
  'docs/README.md': 'all-pages.md',
  'docs/adr/README.md': 'adr/index.md',
  'client/README.md': 'client/index.md',
};

/** The path of a page on the site, which is served at `/docs/`, so its pages leave out the folder `docs/`. */
exports.sitePathOf = (path) => INDEXES[path] ?? path.replace(/^docs\//, '');
