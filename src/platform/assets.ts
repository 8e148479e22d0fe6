import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The path of a file that ships with the server. The build copies such files to dist/src (nest-cli.json).
 * @param path relative to src, with forward slashes: `fhir/definitions/elements.json`
 */
export function assetPath(path: string): string {
  return join(__dirname, '..', path);
}

/**
 * Reads a file that ships with the server as text.
 * @param path as of {@link assetPath}
 */
export function readAsset(path: string): string {
  return readFileSync(assetPath(path), 'utf8');
}
