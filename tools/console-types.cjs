// Checks the types of the console. It uses the typed client, whose types are generated first if they are missing. After
// a change of the API, remove client/src/api.ts or run `npm run test:client`.
const { execFileSync } = require('node:child_process');
const { existsSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { generateClient } = require('./generate-client.cjs');

const root = join(__dirname, '..');

async function generateMissing() {
  if (existsSync(join(root, 'client/src/api.ts'))) return;
  execFileSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: 'inherit' });
  const { createServer } = require('../dist/src/index.js');
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-types-'));
  const settings = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data'), SVC_LOG_LEVEL: 'error' };
  try {
    const server = await createServer({ environment: settings });
    try {
      await generateClient(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
