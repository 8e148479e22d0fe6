// Checks the types of the console. It uses the typed client, whose types are generated first if they are missing. After
// a change of the API, remove client/src/api.ts or run `npm run test:client`.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { generateClient } = require('./generate-client.cjs');
const { withServer } = require('./with-server.cjs');

const root = join(__dirname, '..');

async function generateMissing() {
  if (existsSync(join(root, 'client/src/api.ts'))) return;
  execFileSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: 'inherit' });
  await withServer({}, generateClient);
}

generateMissing()
  .then(() => {
    const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', 'console/tsconfig.json'], { cwd: root, stdio: 'inherit' });
  })
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
