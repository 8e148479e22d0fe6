import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Source of the definitions: HL7's own package of every R4 resource, including definitions. */
export const source = {
  package: 'hl7.fhir.r4.examples',
  version: '4.0.1',
  license: 'CC0-1.0',
  publisher: 'Health Level Seven International',
  url: 'http://hl7.org/fhir/R4',
  madeBy: 'npm run definitions',
};

/** A resource of the source package; the code for each type adds its members. */
export interface SourceResource {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Installs the source package below `folder` and returns the folder with its resources, one per file. */
export function installSource(folder: string): string {
  const packages = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  const name = `${source.package}@${source.version}`;
  // `npm run` sets the path of npm's script in this variable. The script starts without a shell, unlike `npm.cmd` on
  // Windows.
  const npm = process.env.npm_execpath;
  if (npm === undefined) throw new Error('npm_execpath is unset: start this with "npm run"');
  try {
    execFileSync(process.execPath, [npm, ...packages, name], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error(`npm could not install ${name}; is the registry reachable?`, { cause: error });
  }
  return join(folder, 'node_modules', source.package);
}

/**
 * Reads all resources of one type, sorted by id in code unit order, so that the output does not depend on the file
 * system.
 * @throws Error when the package contains none
 */
export function readResources<T extends SourceResource>(folder: string, type: string): T[] {
  const resources = readdirSync(folder)
    .filter((file) => file.startsWith(`${type}-`))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as T);
  if (resources.length === 0) throw new Error(`${source.package}@${source.version} holds no ${type}`);
  return resources.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Prints a definitions file: its source, its other members, then `records` with one record per line. */
export function printRecords(head: object, name: string, records: readonly object[]): string {
  const members = Object.entries({ source, ...head }).map(
    ([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  return `{\n${members.join('')}${JSON.stringify(name)}: [\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n}\n`;
}
