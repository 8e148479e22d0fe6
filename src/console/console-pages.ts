import { join } from 'node:path';
import { type Environment } from '../platform/config/environment';
import { PublicFolder } from '../platform/http/public-folder';

/**
 * The pages of the console on `/console/`, unless `SVC_CONSOLE` is off. Its files hold no data, so they are public. The
 * pages show only what the policies of the signed-in User grant.
 */
export function consolePages({ hasConsole }: Environment): PublicFolder | undefined {
  if (!hasConsole) return undefined;
  return new PublicFolder({
    path: '/console',
    // `npm run build` writes the console into this folder, beside the compiled server.
    folder: join(__dirname, '..', '..', 'console'),
    sourcesOf: () => `script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'`,
  });
}
