/** A process that specs kill: starts the embedded PostgreSQL on the given folder, prints the URL, and keeps running. */
const { transformFileSync } = require('@swc/core');

require.extensions['.ts'] = (module, file) => module._compile(transformFileSync(file).code, file);

const { startEmbeddedPostgres } = require('../../src/platform/database/embedded/embedded-postgres.ts');

startEmbeddedPostgres({ dataDirectory: process.argv[2], isDurable: false }).then(({ url }) => {
  console.log(url);
  process.stdin.resume();
});
