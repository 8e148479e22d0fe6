module.exports = require('../../own-require.cjs')('@nestjs/jwt');
