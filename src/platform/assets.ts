import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the path of a file that is shipped with the server. The build copies such files to dist/src (nest-cli.json).
 * @param path relative to src, with forward slashes: `fhir/definitions/elements.json`
 */
export function assetPath(path: string): string {
  return join(__dirname, '..', path);
}

/**
 * Reads a file that is shipped with the server, as text.
 * @param path relative to src, as for {@link assetPath}
 */
export function readAsset(path: string): string {
  return readFileSync(assetPath(path), 'utf8');
}
