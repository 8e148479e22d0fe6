import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, type Migration } from '../../src/platform/database/migration';

const CHANGELOG = 'CHANGELOG.md';
const UPGRADE = 'docs/how-to/upgrade.md';
const DIGESTS = 'test/e2e/operate/migrations.e2e-spec.ts';
/** The packages that have the server's version, and their lock files. Some of the lock files contain it too. */
const PACKAGES = ['package.json', 'client/package.json', 'console/package.json'];
const LOCKS = ['package-lock.json', 'client/package-lock.json'];

export interface Release {
  /** New texts by path; empty if this version was already released. */
  readonly files: ReadonlyMap<string, string>;
  readonly tagText: string;
}

export class ReleaseError extends Error {}

/** The changes to a checkout that make it the release of a version. Writes nothing. */
export function planRelease(root: string, version: string, date: string, migrations: readonly Migration[]): Release {
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  const old = (JSON.parse(text('package.json')) as { version: string }).version;
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new ReleaseError(`"${version}" is no version: write 1.2.3.`);
  const cut = sectionOf(text(CHANGELOG), version);
  if (old === version && cut !== undefined) return { files: new Map(), tagText: tagTextOf(version, cut) };
  if (!isNewer(version, old)) throw new ReleaseError(`${version} is not newer than ${old}.`);
  if (git(root, 'status', '--porcelain') !== '') throw new ReleaseError('Commit or remove your changes first.');
  const unreleased = sectionOf(text(CHANGELOG), 'Unreleased');
  if (unreleased === undefined) throw new ReleaseError(`${CHANGELOG} has nothing below "## Unreleased".`);

  const files = new Map<string, string>();
  const edit = (path: string, change: (text: string) => string): void => {
    const before = files.get(path) ?? text(path);
    const after = change(before);
    if (after !== before) files.set(path, after);
  };
  edit(CHANGELOG, (changes) => changes.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} - ${date}\n`));
  edit(UPGRADE, (page) => page.replace(`### After ${old}\n`, `### ${version}\n`));
  for (const path of PACKAGES) edit(path, (json) => json.replace(`"version": "${old}"`, `"version": "${version}"`));
  for (const path of LOCKS) edit(path, (json) => withVersion(json, old, version));
  const tarballs = git(root, 'grep', '-lE', `svc-health-(server|client)-${old.replaceAll('.', '\\.')}\\.tgz`);
  for (const path of tarballs.split('\n').filter((name) => name !== '' && name !== CHANGELOG))
    edit(path, (found) =>
      found.replaceAll(new RegExp(`(svc-health-(?:server|client)-)${old}(?=\\.tgz)`, 'g'), `$1${version}`),
    );
  edit(DIGESTS, (spec) => withDigests(spec, version, migrations));
  return { files, tagText: tagTextOf(version, unreleased) };
}

const git = (root: string, ...words: readonly string[]): string =>
  existsSync(join(root, '.git')) ? execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim() : '';

const isNewer = (version: string, than: string): boolean => {
  const [a, b] = [version, than].map((one) => one.split('.').map(Number));
  const index = a?.findIndex((number, at) => number !== b?.[at]) ?? -1;
  return index >= 0 && (a?.[index] ?? 0) > (b?.[index] ?? 0);
};

/** The section of a version in the changelog; undefined if there is none. */
function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => (one.split('\n')[0] ?? '').split(' - ')[0] === version);
  const body = section?.split('\n').slice(1).join('\n').trim();
  return body === '' ? undefined : body;
}

/** The text of the annotated tag. Headings lose their `#`, since git would drop these lines as comments. */
const tagTextOf = (version: string, section: string): string =>
  `${version}\n\n${section.replaceAll(/^### (.*)$/gm, '$1:')}\n`;

/** The text of a lock file with the new version of our own packages. */
function withVersion(json: string, old: string, version: string): string {
  const lock = JSON.parse(json) as { version: string; packages: Record<string, { version?: string }> };
  if (lock.version === old) lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.includes('node_modules') && entry.version === old) entry.version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** Adds the digests of the new migrations to the spec, which from then on refuses a change of their SQL. */
function withDigests(spec: string, version: string, migrations: readonly Migration[]): string {
  const added = migrations.filter(({ name }) => !spec.includes(`${name}: '`));
  if (added.length === 0) return spec;
  const lines = added.map((one) => `    ${one.name}: '${digestOf(one)}',`).join('\n');
  return spec.replace(/(const RELEASED = \{[\s\S]*?\n)(\};)/, `$1  '${version}': {\n${lines}\n  },\n$2`);
}
