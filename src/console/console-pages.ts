import { join } from 'node:path';
import { type Environment } from '../platform/config/environment';
import { PublicFolder } from '../platform/http/public-folder';

/** The console on `/console/`. Its files hold no data. The pages show only what the policies of the User grant. */
export function consolePages({ hasConsole }: Environment): PublicFolder | undefined {
  if (!hasConsole) return undefined;
  return new PublicFolder({
    path: '/console',
    // Where `npm run build` writes it, beside the compiled server.
    folder: join(__dirname, '..', '..', 'console'),
    sourcesOf: () => `script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'`,
  });
}
