import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { memoized } from '../memoized';
import { PublicFile } from './public-file';
import { sentPathOf } from './raw-request';
import { pagePolicy } from './security-headers';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export interface PublicFolderOptions {
  /** Where the handler is mounted, such as `/console`. */
  readonly path: string;
  readonly folder: string;
  /** The sources of the Content-Security-Policy of a page, by its text. */
  readonly sourcesOf: (page: string) => string;
}

/** Maximum number of cached files. A folder has files of up to a megabyte, most of them far smaller. */
const KEPT_FILES = 100;

interface SentFile {
  readonly file: PublicFile;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Serves the files of a folder to everybody, since they contain no data. The build names files below `assets/` by their
 * content. A path is looked up among the names in the folder, so no path can lead out of the folder.
 */
export class PublicFolder {
  private names: ReadonlySet<string> | undefined;
  private readonly read = memoized((name: string) => this.readNow(name), KEPT_FILES);

  constructor(private readonly options: PublicFolderOptions) {}

  get path(): string {
    return this.options.path;
  }

  /** Whether the build made the folder. */
  get isBuilt(): boolean {
    return existsSync(join(this.options.folder, 'index.html'));
  }

  readonly handler: RequestHandler = (request, response, next) => {
    const { method, path } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      next();
      return;
    }
    // The Location is relative, since a proxy may serve this server below a path.
    if (sentPathOf(request) === this.path) {
      response
        .set({ Location: `${this.path.slice(1)}/`, 'Cache-Control': 'no-cache' })
        .status(302)
        .end();
      return;
    }
    const name = path.slice(1).replace(/(^|\/)$/, '$1index.html');
    this.names ??= new Set(namesIn(this.options.folder));
    if (this.names.has(name)) this.send(name, request, response).catch(next as NextFunction);
    else next();
  };

  private async send(name: string, request: Request, response: Response): Promise<void> {
    const { file, headers } = this.read(name);
    response.set(headers);
    await file.send(request, response);
  }

  /** Reads at once, so that a failure is not cached. Only the first request for a file waits for the disk. */
  private readNow(name: string): SentFile {
    const bytes = readFileSync(join(this.options.folder, name));
    const type = extname(name);
    const headers = {
      ...pagePolicy(this.options.sourcesOf(type === '.html' ? bytes.toString() : '')),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
    };
    return { file: new PublicFile(MEDIA_TYPES[type] ?? '', bytes, name.startsWith('assets/')), headers };
  }
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return []; // a build without this folder
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => MEDIA_TYPES[extname(name)] !== undefined)
    .map((name) => name.replaceAll('\\', '/'));
}
