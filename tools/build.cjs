// Builds the server, its tools and the console into dist/. Does nothing when no source is newer than the last build.
// A new build replaces the last one when it is complete: a server that runs from dist/ finds its files at any time,
// and a build that fails changes nothing. dist/site stays: `npm run docs` makes it.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');
const { errorsPage } = require('./errors-page.cjs');

const root = join(__dirname, '..');
const dist = join(root, 'dist');
/** An empty file whose modification time is the start of the build. */
const STAMP = '.built';
/** The page to which error answers link. */
const ERRORS = 'docs/reference/errors.md';
const SOURCES = ['src', 'testing', 'tools', 'console', 'client/src', ERRORS, '.swcrc', 'package-lock.json'];

/** When the newest of the sources changed; a folder changes when a file is removed from it. Milliseconds since 1970. */
function lastChange(path) {
  const stats = fs.statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = fs.readdirSync(path).filter((name) => name !== 'node_modules');
  return Math.max(stats.mtimeMs, ...inside.map((name) => lastChange(join(path, name))));
}

function isUpToDate() {
  const stamp = join(dist, STAMP);
  if (!fs.existsSync(stamp)) return false;
  const builtAt = fs.statSync(stamp).mtimeMs;
  return SOURCES.every((source) => lastChange(join(root, source)) <= builtAt);
}

function run(program, words, environment) {
  const script = join(root, 'node_modules', program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], {
    cwd: root,
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  throw new Error(`${program} ended with code ${status}: dist/ is as it was`);
}

/** Compiles folders of TypeScript into a folder, and copies the other files in them. */
function compile(folders, into) {
  const files = ['--extensions', '.ts', '--ignore', '**/*.spec.ts', '--copy-files'];
  run('@swc/cli/bin/swc.js', [...folders, '--config-file', '.swcrc', ...files, '-d', into]);
}

/** Makes source maps name their sources as seen from dist/, to which the folder is renamed. */
function moveSourceMaps(folder) {
  for (const name of fs.readdirSync(folder, { recursive: true })) {
    if (!name.endsWith('.js.map')) continue;
    const path = join(folder, name);
    const map = JSON.parse(fs.readFileSync(path, 'utf8'));
    const moved = (source) => relative(dirname(join(dist, name)), resolve(dirname(path), source));
    fs.writeFileSync(path, JSON.stringify({ ...map, sources: map.sources.map(moved) }));
  }
}

/** Builds the console into the folder of a compiled server, which serves it. */
function buildConsole(folder) {
  const environment = { NODE_ENV: 'production', SVC_CONSOLE_OUT: join(folder, 'console') };
  run('vite/bin/vite.js', ['build', 'console', '--logLevel', 'warn'], environment);
}

/** A new folder below node_modules, so that a server compiled into it finds its packages. */
function newFolder() {
  const cache = join(root, 'node_modules', '.cache');
  fs.mkdirSync(cache, { recursive: true });
  return fs.mkdtempSync(join(cache, 'svc-build-'));
}

function build() {
  const startedAt = new Date();
  const folder = newFolder();
  const [made, old] = [join(folder, 'made'), join(folder, 'old')];
  try {
    compile(['src', 'testing', 'tools'], made);
    moveSourceMaps(made);
    buildConsole(made);
    fs.mkdirSync(join(made, 'errors', 'reference'), { recursive: true });
    const page = errorsPage(fs.readFileSync(join(root, ERRORS), 'utf8'));
    for (const name of ['index.html', 'reference/errors.html']) fs.writeFileSync(join(made, 'errors', name), page);
    fs.writeFileSync(join(made, STAMP), '');
    fs.utimesSync(join(made, STAMP), startedAt, startedAt);
    if (fs.existsSync(join(dist, 'site'))) fs.renameSync(join(dist, 'site'), join(made, 'site'));
    if (fs.existsSync(dist)) fs.renameSync(dist, old);
    fs.renameSync(made, dist);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { buildConsole, compile, newFolder };

if (require.main === module && (process.argv.includes('--force') || !isUpToDate())) {
  process.stdout.write('Building the server, its tools and the console …\n');
  build();
}
