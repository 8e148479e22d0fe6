module.exports = require('../own-require.cjs')('typeorm');
