/** Node's own require, which loads a module once for all spec files of a worker. */
const { join } = require('node:path');
const { runInThisContext } = require('node:vm');

const { createRequire } = runInThisContext('process').getBuiltinModule('node:module');

module.exports = createRequire(join(__dirname, 'own-require.cjs'));
