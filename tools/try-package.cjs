// Packs the server and installs it next to a copy of examples/ward in an empty folder. Compiles that with the types of
// the package alone and runs its tests, like a team that builds on the server (docs/how-to/extend.md).
const { execFileSync } = require('node:child_process');
const { cpSync, mkdtempSync, rmSync, statSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { name, version } = require('../package.json');

const MAX_BYTES = 6_000_000;
const repository = join(__dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: 'inherit' });

try {
  run('npm', ['pack', '--silent', '--pack-destination', folder], repository);
  const tarball = join(folder, `${name}-${version}.tgz`);
  const { size } = statSync(tarball);
  if (size > MAX_BYTES) throw new Error(`The package has ${size} bytes, more than ${MAX_BYTES}`);
  const ward = join(folder, 'ward');
  cpSync(join(repository, 'examples/ward'), ward, { recursive: true });
  cpSync(tarball, join(ward, `${name}-${version}.tgz`));
  run('npm', ['install', '--no-audit', '--no-fund'], ward);
  // Both kinds of modules can import the names.
  const loads = `import { RpcMethod } from '${name}'; if (typeof RpcMethod !== 'function') throw new Error('RpcMethod is missing');`;
  run('node', ['--input-type=module', '--eval', loads], ward);
  run('npm', ['test'], ward);
  const plan = execFileSync('npm', ['run', '-s', 'migrate', '--', '--check'], { cwd: ward }).toString();
  if (!plan.includes('CreateHandOvers'))
    throw new Error(`migrate does not know the migrations of the module:\n${plan}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
