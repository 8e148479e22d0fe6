import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE } from '../../src/platform/database/schema/all-migrations';
import { readOptions } from '../options';
import { planRelease, ReleaseError } from './plan-release';

const USAGE = `npm run release -- <version> [--dry-run]

Cuts a release in this checkout, which must be clean: moves the section Unreleased of CHANGELOG.md below the version, sets the version
of all packages and tarballs, and freezes the digests of new migrations. Prints the text of the tag and what to do next. It commits
nothing. A second call with the same version changes nothing and prints the same.
--dry-run  prints what would change, and changes nothing
`;

const next = (version: string): string => `
Next:
1. Keep a database of this release, and add its spec: test/upgrades/README.md.
2. Check docs/how-to/upgrade.md, "Releases": does it say what operators must do?
3. .ci/run
4. git add -A && git commit -m 'chore(release): ${version}'
5. git tag -a ${version} -F tag.txt, with the text above; git push --follow-tags
`;

function main(): void {
  const { positionals, values } = readOptions(USAGE, {
    options: { 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  });
  const [version] = positionals;
  if (version === undefined || positionals.length > 1) throw new ReleaseError(USAGE);
  const today = new Date().toISOString().slice(0, 10);
  const { files, tagText } = planRelease(process.cwd(), version, today, CORE.migrations);
  const isDry = values['dry-run'] === true;
  for (const [path, text] of files) {
    if (!isDry) writeFileSync(join(process.cwd(), path), text);
    process.stdout.write(`${isDry ? 'would change' : 'changed'} ${path}\n`);
  }
  if (files.size === 0) process.stdout.write(`${version} is cut already: nothing to change.\n`);
  process.stdout.write(`\nText of the tag:\n\n${tagText}${next(version)}`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
