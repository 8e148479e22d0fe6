module.exports = require('../own-require.cjs')('pg');
