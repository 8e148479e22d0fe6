// Writes the declarations of both package entries, one file each. Compares their API reports in docs/reference with the
// stored ones; with the argument `--local` it updates the stored reports.
const { execFileSync } = require('node:child_process');
const { rmSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const run = (file, ...args) =>
  execFileSync(process.execPath, [join(root, 'node_modules', file), ...args], { cwd: root, stdio: 'inherit' });

rmSync(join(root, 'dist/types'), { recursive: true, force: true });
run('typescript-7/bin/tsc', '-p', 'tsconfig.package.json');
for (const config of ['api-extractor.json', 'api-extractor.testing.json'])
  run('@microsoft/api-extractor/bin/api-extractor', 'run', '--config', config, ...process.argv.slice(2));
