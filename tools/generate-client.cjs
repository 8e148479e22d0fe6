// Generates the types of the client from the OpenAPI document of a server (client/README.md).
const { execFileSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');

const client = join(__dirname, '..', 'client');
const run = (...words) => execFileSync('npm', words, { cwd: client, stdio: 'inherit' });

/** @param url address of a running server */
async function generateClient(url) {
  const document = await (await globalThis.fetch(`${url}/api-json`)).text();
  writeFileSync(join(client, 'openapi.json'), document);
  run('ci', '--no-audit', '--no-fund');
  run('run', '-s', 'generate');
}

module.exports = { generateClient };
