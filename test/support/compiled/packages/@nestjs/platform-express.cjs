module.exports = require('../../own-require.cjs')('@nestjs/platform-express');
