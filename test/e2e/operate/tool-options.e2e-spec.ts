import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The options of each tool, except `--help`. */
const TOOLS: readonly (readonly [finding: string, tool: string, options: readonly string[]])[] = [
  ['C13.7', 'demo/demo', []],
  ['C13.8', 'load/load', ['--restart', '--lanes=<value>']],
  ['C13.9', 'chaos/chaos', ['--minutes=<value>', '--kills=<value>', '--seed=<value>']],
  ['C13.9', 'bench/bench', ['--suite=<value>', '--only=<value>']],
  ['C13.9', 'audit-addenda/audit-addenda', ['--heads=<value>', '--since=<value>']],
  ['C13.9', 'rotate-keys/rotate-keys', ['--compromised']],
  ['C13.9', 'after-restore/after-restore', ['--release']],
  ['O6', 'migrate/migrate', ['--check', '--modules=<value>']],
  ['H1', 'reindex/reindex', []],
  ['C13.9', 'definitions/make-definitions', []],
  ['C13.9', 'validate-examples/validate-examples', []],
];

describe('the tools', () => {
  const run = (tool: string, sent: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const file = join(process.env.TEST_BUILD ?? '', 'tools', `${tool}.js`);
      const child = spawn(process.execPath, [file, ...sent], { env: { ...process.env, ...environment } });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
      child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
      child.on('error', reject);
      child.on('close', (code) => {
        resolve({ code, stdout, stderr });
      });
    });

  const helps = new Map<string, Promise<Ended>>();
  /** The help of a tool, which several specs read. A start of a tool takes up to a second of CPU. */
  function helpOf(tool: string): Promise<Ended> {
    const help = helps.get(tool) ?? run(tool, ['--help']);
    helps.set(tool, help);
    return help;
  }

  it.each(TOOLS)(
    '%s: %s refuses an unknown option in one line, and lists its options',
    async (_finding, tool, options) => {
      const { code, stdout, stderr } = await run(tool, ['--bogus']);
      const [wrong, listed = '', ...more] = stderr.split('\n');
      expect([code, stdout, wrong, more]).toEqual([2, '', "Unknown option '--bogus'.", ['']]);
      expect(listed).toMatch(/^Options: .*--help$/);
      for (const option of options) expect(listed).toContain(option);
    },
  );

  it.each(TOOLS)('%s: %s with --help prints its purpose, and does nothing else', async (_finding, tool, options) => {
    const { code, stdout, stderr } = await helpOf(tool);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[a-z-]+ .*\n/);
    for (const option of options) expect(stdout).toContain(option);
  });

  it.each(['after-restore', 'audit-addenda', 'load', 'migrate', 'reindex', 'rotate-keys'])(
    '%s: its help shows how to call it from the npm package and the image, which have no npm scripts',
    async (tool) => {
      const { stdout } = await helpOf(`${tool}/${tool}`);
      expect(stdout.replace(/^Call: .*$/m, '')).not.toContain('npm run');
      for (const call of [
        `npm run -s ${tool} --`,
        `npx svc-health-server ${tool}`,
        `node dist/tools/${tool}/${tool}.js`,
      ])
        expect(stdout).toContain(call);
      expect(stdout.split('\n').filter(({ length }) => length > 120)).toEqual([]);
      const listed = await helpOf('svc-health-server');
      expect([listed.code, listed.stderr, listed.stdout]).toEqual([0, '', expect.stringContaining(tool)]);
    },
  );

  it('C13.9: report that an option lacks its value', async () => {
    const { code, stderr } = await run('chaos/chaos', ['--minutes']);
    expect([code, stderr.split('\n')[0]]).toEqual([2, "Option '--minutes <value>' argument missing."]);
  });

  it.each([
    ['demo/demo', []],
    ['load/load', ['package.json']],
    ['rotate-keys/rotate-keys', []],
  ])('%s names the server that does not answer, and the settings to change', async (tool, sent) => {
    const environment = { BASE_URL: 'http://127.0.0.1:9', SVC_ROOT_CLIENT_SECRET: 'a secret of root' };
    const { code, stdout, stderr } = await run(tool, sent, environment);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(
      /No server answers at http:\/\/127\.0\.0\.1:9\S* \(.+\): start it, or set BASE_URL or PORT\./,
    );
  });

  it('migrate reads dynamic modules of the file, and the modules that they import', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'modules-'));
    try {
      const file = join(folder, 'ward.module.cjs');
      const main = JSON.stringify(join(process.env.TEST_BUILD ?? '', 'src'));
      await writeFile(
        file,
        `class Tables {}
        require(${main}).BringsMigrations({ prefix: 'core', migrations: [] })(Tables);
        exports.ward = { module: class Ward {}, imports: [Tables] };
        exports.name = null;`,
      );
      const { code, stderr } = await run('migrate/migrate', ['--check', `--modules=${file}`]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('Tables: the prefix "core" of its migrations')]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('C13.7: refuse arguments that they do not have', async () => {
    const { code, stderr } = await run('demo/demo', ['again']);
    expect([code, stderr.split('\n')[0]]).toEqual([2, "Unexpected argument 'again'."]);
  });
});
