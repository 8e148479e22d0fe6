// Packs the server and installs it next to a copy of examples/ward in an empty folder. Compiles that with the types of
// the package alone and runs its tests, like a team that builds on the server (docs/how-to/extend.md).
const { execFileSync } = require('node:child_process');
const { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { name, version } = require('../package.json');
const { exampleModules, withoutExample } = require('./package-examples.cjs');

const MAX_BYTES = 6_000_000;
const repository = join(__dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: 'inherit' });

/** Writes the examples of the docstrings into a folder that the project's compiler reads. */
function writeExamples(ward) {
  // The generator of the declarations ends lines by CR LF.
  const declarations = (file) =>
    readFileSync(join(ward, 'node_modules', name, 'dist', file), 'utf8').replaceAll('\r', '');
  const [main, testing] = [declarations('index.d.ts'), declarations('testing.d.ts')];
  const missing = withoutExample(main);
  if (missing.length > 0) throw new Error(`These have no @example in their docstring: ${missing.join(', ')}`);
  const modules = exampleModules(name, main, testing);
  const examples = join(ward, 'src/examples');
  mkdirSync(examples);
  for (const [index, text] of modules.entries()) writeFileSync(join(examples, `example-${index}.ts`), text);
  process.stdout.write(`${modules.length} examples of docstrings are compiled.\n`);
}

try {
  run('npm', ['pack', '--silent', '--pack-destination', folder], repository);
  const tarball = join(folder, `${name}-${version}.tgz`);
  const { size } = statSync(tarball);
  if (size > MAX_BYTES) throw new Error(`The package has ${size} bytes, more than ${MAX_BYTES}`);
  const ward = join(folder, 'ward');
  cpSync(join(repository, 'examples/ward'), ward, { recursive: true });
  cpSync(tarball, join(ward, `${name}-${version}.tgz`));
  run('npm', ['install', '--no-audit', '--no-fund'], ward);
  writeExamples(ward);
  // Modules of both kinds, CommonJS and ES, can import the names of the package.
  const loads = `import { RpcMethod } from '${name}'; if (typeof RpcMethod !== 'function') throw new Error('RpcMethod is missing');`;
  run('node', ['--input-type=module', '--eval', loads], ward);
  run('npm', ['test'], ward);
  // `migrate` needs a database: that of a server without the module.
  const makes = `import { createServer } from '${name}'; await (await createServer({ environment: { PORT: '0' } })).stop();`;
  run('node', ['--input-type=module', '--eval', makes], ward);
  const plan = execFileSync('npm', ['run', '-s', 'migrate', '--', '--check'], { cwd: ward }).toString();
  if (!plan.includes('CreateHandOvers'))
    throw new Error(`migrate does not know the migrations of the module:\n${plan}`);

  // Follows the tutorial, as its page says.
  const page = readFileSync(join(repository, 'docs/tutorials/your-own-module.md'), 'utf8');
  const greeting = join(folder, 'greeting');
  mkdirSync(join(greeting, 'src'), { recursive: true });
  cpSync(tarball, join(greeting, `${name}-${version}.tgz`));
  for (const [, file, code] of page.matchAll(/^`([\w.-]+)`\n\n```ts\n([\s\S]*?)```$/gm))
    writeFileSync(join(greeting, 'src', file), code);
  writeFileSync(join(greeting, 'tsconfig.json'), /```json\n([\s\S]*?)```/.exec(page)[1]);
  const [, setup] = /```sh\n[^`]*cd \.\.\/greeting\n([^`]*)```/.exec(page);
  run('sh', ['-ec', setup], greeting);
  run('npm', ['test'], greeting);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
