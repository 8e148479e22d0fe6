import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOADABLE = /\.(json|ndjson)$/i;

/** Lists the JSON and NDJSON files below folders, and paths that are files themselves, sorted by name. */
export async function listFiles(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) found.add(path);
    else
      for (const name of await readdir(path, { recursive: true })) if (LOADABLE.test(name)) found.add(join(path, name));
  }
  return [...found].sort();
}

/** SHA-256 of a file in hexadecimal. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
