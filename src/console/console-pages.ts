import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type NextFunction, type RequestHandler } from 'express';
import { type Environment } from '../platform/config/environment';
import { PublicFile } from '../platform/http/public-file';
import { pagePolicy } from '../platform/http/security-headers';

/** Where `npm run build` puts the console: beside the compiled server. */
const FOLDER = join(__dirname, '..', '..', 'console');

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const HEADERS = {
  ...pagePolicy(`script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'`),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

/**
 * Serves the console on `/console/`, unless `SVC_CONSOLE` is off. Its files hold no data, so they are public; its pages show what
 * the policies of the signed-in User grant.
 */
export function consolePages({ hasConsole }: Environment): RequestHandler {
  let files: ReadonlyMap<string, PublicFile> | undefined;
  return ({ method, path }, response, next) => {
    const { req: request } = response;
    if (!hasConsole || (method !== 'GET' && method !== 'HEAD') || !/^\/console(?:\/|$)/.test(path)) {
      next();
      return;
    }
    // Relative: a proxy may serve this server below a path.
    if (path === '/console') {
      response.set({ Location: 'console/', 'Cache-Control': 'no-cache' }).status(302).end();
      return;
    }
    files ??= filesOf(FOLDER);
    const file = files.get(path.slice('/console/'.length));
    if (file === undefined) next();
    else {
      response.set(HEADERS);
      file.send(request, response).catch(next as NextFunction);
    }
  };
}

/** The files by their paths. The build names those below `assets/` by their content. */
function filesOf(folder: string): ReadonlyMap<string, PublicFile> {
  const files = namesIn(folder).flatMap((name) => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    return [[name, new PublicFile(mediaType, readFileSync(join(folder, name)), name.startsWith('assets/'))] as const];
  });
  const page = files.find(([name]) => name === 'index.html')?.[1];
  return new Map([...files, ...(page === undefined ? [] : [['', page] as const])]);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []; // compiled without the console
    throw error;
  }
}
