import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a file that ships with the server as text.
 * @param path relative to src, with forward slashes: `fhir/definitions/elements.json`. The build copies such files to dist/src.
 */
export function readAsset(path: string): string {
  return readFileSync(join(__dirname, '..', path), 'utf8');
}
