module.exports = require('../own-require.cjs')('class-validator');
