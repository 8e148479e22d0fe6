module.exports = require('../own-require.cjs')('fast-check');
