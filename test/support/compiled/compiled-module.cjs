/**
 * Jest's transform for files of src in specs that need PostgreSQL: loads the same file of the compiled server instead.
 * Jest's sandbox would load all 2,000 modules again for each spec file, and run them more slowly.
 */
const { createHash } = require('node:crypto');
const { join, relative } = require('node:path');

const root = join(__dirname, '..', '..', '..');
const OWN_REQUIRE = join(__dirname, 'own-require.cjs');

const codeOf = (path) => {
  const compiled = relative(root, path).replace(/\.ts$/, '.js');
  return `module.exports = require(${JSON.stringify(OWN_REQUIRE)})(require('node:path').join(process.env.TEST_BUILD, ${JSON.stringify(compiled)}));`;
};

module.exports = {
  process: (_source, path) => ({ code: codeOf(path) }),
  getCacheKey: (_source, path) => createHash('sha256').update(codeOf(path)).digest('hex'),
};
