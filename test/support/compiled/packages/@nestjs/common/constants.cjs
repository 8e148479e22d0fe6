module.exports = require('../../../own-require.cjs')('@nestjs/common/constants');
