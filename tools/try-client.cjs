// Builds the client from a server's OpenAPI document, packs it, and tests the tarball in an empty folder against that
// server, like a team that uses it (client/README.md).
const { execFile, execFileSync } = require('node:child_process');
const { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { promisify } = require('node:util');

const client = join(__dirname, '..', 'client');
const { name, version } = require('../client/package.json');
const { generateClient } = require('./generate-client.cjs');
const { withServer } = require('./with-server.cjs');
const SECRET = 'secret-of-root';
/** Schemas that client/test/four_areas.py reads. */
const PYTHON_TYPES = ['Bundle', 'Patient', 'Session', 'SDCAddendum', 'SDCNote', 'SvcTopicDestinationStatusAnswer'];
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: 'inherit' });

/** Writes each example of the README as a module, which must compile. */
function writeExamples(folder) {
  const blocks = [...readFileSync(join(client, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)];
  for (const [index, [, text]] of blocks.entries()) writeFileSync(join(folder, `readme-${index}.ts`), text);
  if (blocks.length === 0) throw new Error('The README of the client has no examples');
}

/** @param url address of a running server, whose Client `root` has the secret `SECRET` */
async function tryClient(url) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
  try {
    await generateClient(url);
    for (const script of ['build', 'check']) run('npm', ['run', '-s', script], client);
    run('npm', ['pack', '--silent', '--pack-destination', folder], client);
    const test = join(folder, 'test');
    cpSync(join(client, 'test'), test, { recursive: true });
    cpSync(join(folder, `${name}-${version}.tgz`), join(test, `${name}-${version}.tgz`));
    writeExamples(test);
    run('npm', ['install', '--no-audit', '--no-fund'], test);
    run('npx', ['tsc'], test);
    // The server runs in this process, so its event loop must not be blocked meanwhile.
    const environment = { ...process.env, SVC_URL: url, SVC_ROOT: SECRET };
    const call = promisify(execFile);
    const types = await call('node', ['types-for.mjs', 'python', ...PYTHON_TYPES], { cwd: client, maxBuffer: 2 ** 24 });
    writeFileSync(join(test, 'svc_types.py'), types.stdout);
    for (const [command, ...args] of [
      ['node', '--test', 'dist/client.test.js'],
      ['python3', 'four_areas.py'],
    ])
      process.stdout.write((await call(command, args, { cwd: test, env: environment })).stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

withServer({ SVC_ROOT_CLIENT_SECRET: SECRET }, tryClient).catch((error) => {
  console.error(error.stdout ?? error);
  process.exitCode = 1;
});
