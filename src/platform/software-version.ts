import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

let known: string | undefined;

/** The version in package.json, which is in the parent folder of `src`, or in a build, of `dist`. */
export function softwareVersion(): string {
  known ??= (JSON.parse(readFileSync(packageFile(), 'utf8')) as { version: string }).version;
  return known;
}

export const packageFile = (): string => packageFileAbove(__dirname);

function packageFileAbove(folder: string): string {
  const file = join(folder, 'package.json');
  return existsSync(file) ? file : packageFileAbove(dirname(folder));
}
