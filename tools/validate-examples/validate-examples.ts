import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ResourceValidator } from '../../src/validator/validator';
import { installSource, source } from '../definitions/source-package';
import { readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { isKnown, readKnownRefusals } from './known-refusals';

interface Refusal {
  readonly file: string;
  readonly issue: string;
  readonly expression: string;
}

/**
 * Validates every example published by HL7. A refusal of a valid example shows that the server misreads the standard.
 */
function validateExamples(): void {
  readOptions('npm run validate-examples: validates every example that HL7 published.', {});
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  try {
    tell(`installing ${source.package}@${source.version} into ${folder}`);
    report(refusalsIn(installSource(folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refusalsIn(folder: string): readonly Refusal[] {
  const validator = new ResourceValidator();
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') && !/^(package|\.)/.test(file));
  const bar = new ProgressBar({ label: 'examples', total: files.length });
  const before = process.cpuUsage();
  const refusals = files.flatMap((file) => {
    const resource = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { resourceType: string };
    const issues = validator.validate(resource.resourceType, resource);
    bar.advance();
    return issues.map(({ code, diagnostics, expression }) => ({ file, issue: `${code} ${diagnostics}`, expression }));
  });
  const { user, system } = process.cpuUsage(before);
  tell(`${files.length} examples read and validated in ${((user + system) / 1e6).toFixed(1)} s of CPU`);
  return refusals;
}

/**
 * Prints the refusals by reason. The exit code is 1 for a refusal that is not in the list, or for a list entry that no
 * refusal matches.
 */
function report(refusals: readonly Refusal[]): void {
  const list = readKnownRefusals();
  const unknown = refusals.filter(({ file, issue }) => !isKnown(list, file, issue));
  for (const { issue, reason, files } of list.refusals) {
    const found = new Set(refusals.filter((refusal) => refusal.issue.startsWith(issue)).map(({ file }) => file));
    const missing = files.filter((file) => !found.has(file));
    tell(`known: ${found.size} × ${issue}\n       ${reason}`);
    if (missing.length > 0) {
      tell(`       no longer refused: ${missing.join(', ')}`);
      process.exitCode = 1;
    }
  }
  for (const { file, issue, expression } of unknown) tell(`UNKNOWN: ${file} ${expression}\n         ${issue}`);
  const refused = new Set(refusals.map(({ file }) => file)).size;
  tell(`${refused} examples refused, ${new Set(unknown.map(({ file }) => file)).size} of them not on the list`);
  if (unknown.length > 0) process.exitCode = 1;
}

function tell(fact: string): void {
  process.stdout.write(`${fact}\n`);
}

validateExamples();
