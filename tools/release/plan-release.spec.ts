import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf } from '../../src/platform/database/migration';
import { CORE } from '../../src/platform/database/schema/all-migrations';
import { planRelease, type Release } from './plan-release';

const folder = mkdtempSync(join(tmpdir(), 'svc-release-'));
const root = join(folder, 'clone');
const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const current = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const NEXT = '99.0.0';
let first: string;

const plan = (version = NEXT): Release => planRelease(root, version, '2027-01-02', CORE.migrations);
const write = ({ files }: Release): void => {
  for (const [path, text] of files) writeFileSync(join(root, path), text);
};

/** A repository with the current texts of this checkout. */
function makeClone(): void {
  const kinds = ['*.md', '*.json', '*.ts', ':!src'];
  const changed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '--', ...kinds], {
    encoding: 'utf8',
  });
  execFileSync('git', ['init', '-q', root]);
  execFileSync('tar', ['-C', root, '-xf', '-'], {
    input: execFileSync('tar', ['--ignore-failed-read', '-cf', '-', '--null', '-T', '-'], {
      input: changed,
      maxBuffer: 512_000_000,
    }),
  });
  git('add', '-A');
  git('-c', 'user.name=spec', '-c', 'user.email=spec@example.org', 'commit', '-qm', 'all');
  first = git('rev-parse', 'HEAD').trim();
}

describe('npm run release', () => {
  beforeAll(makeClone);
  beforeEach(() => {
    git('reset', '-q', '--hard', first);
    git('clean', '-qfd');
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('moves the changes below the version, sets it everywhere, and freezes the migrations', () => {
    const changes = textOf('CHANGELOG.md').split(/^## /m)[1]?.replace('Unreleased\n', '').trim() ?? '';
    const release = plan();
    expect(git('status', '--porcelain')).toBe(''); // a plan alone writes nothing
    write(release);
    expect(textOf('CHANGELOG.md')).toContain(`## Unreleased\n\n## ${NEXT} - 2027-01-02\n\n${changes}`);
    for (const path of ['package.json', 'package-lock.json', 'client/package.json', 'console/package.json'])
      expect(textOf(path)).toContain(`"version": "${NEXT}"`);
    expect(git('grep', '-l', '-F', '-e', `-${NEXT}.tgz`)).toContain('examples/ward/package.json');
    const named = git(
      'grep',
      '-nE',
      `svc-health-(server|client)-${current}\\.tgz|"version": "${current}"`,
      '--',
      '*package*.json',
      'docs',
    );
    expect(named.split('\n').filter((line) => !/lock\.json|^$/.test(line))).toEqual([]);
    expect(textOf('docs/how-to/upgrade.md')).toContain(`### ${NEXT}\n`);
    const frozen = textOf('test/e2e/operate/migrations.e2e-spec.ts');
    for (const migration of CORE.migrations) expect(frozen).toContain(`${migration.name}: '${digestOf(migration)}',`);
    expect(release.tagText.startsWith(`${NEXT}\n\n`)).toBe(true);
    expect(release.tagText).not.toMatch(/^#/m);
  });

  it('changes nothing when it is repeated', () => {
    const first = plan();
    write(first);
    const second = plan();
    expect([second.files.size, second.tagText]).toEqual([0, first.tagText]);
  });

  it.each([
    ['0.0.9', `0.0.9 is not newer than ${current}.`],
    ['1.0', '"1.0" is no version: write 1.2.3.'],
  ])('refuses the version %s', (version, message) => {
    expect(() => plan(version)).toThrow(message);
  });

  it('refuses a checkout with changes, and a changelog without', () => {
    writeFileSync(join(root, 'new.txt'), 'new');
    expect(() => plan()).toThrow('Commit or remove your changes first.');
    writeFileSync(join(root, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- All\n');
    git('add', '-A');
    git('-c', 'user.name=spec', '-c', 'user.email=spec@example.org', 'commit', '-qm', 'none');
    expect(() => plan()).toThrow('CHANGELOG.md has nothing below "## Unreleased".');
  });
});
