import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path of a file that is shipped with the server, relative to src. The build copies it to dist/src (nest-cli.json). */
export function assetPath(path: string): string {
  return join(__dirname, '..', path);
}

/** Reads a shipped file as text, by a path as for {@link assetPath}. */
export function readAsset(path: string): string {
  return readFileSync(assetPath(path), 'utf8');
}
