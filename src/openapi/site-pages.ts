import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Environment } from '../platform/config/environment';
import { PublicFolder } from '../platform/http/public-folder';

/** Where `npm run docs` puts the site: beside the compiled server. */
const FOLDER = join(__dirname, '..', '..', 'site');

/** Each page begins with the same inline scripts, which set its colors before it is drawn. */
const INLINE_SCRIPT = /<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * The pages of the documentation on `/docs/`, where they were built and `SVC_API_DOCS` is on. The policy of each page
 * allows its inline scripts by their digests, and no other.
 */
export function sitePages({ hasApiDocs }: Environment, folder = FOLDER): PublicFolder | undefined {
  const site = new PublicFolder({ path: '/docs', folder, sourcesOf });
  return hasApiDocs && site.isBuilt ? site : undefined;
}

function sourcesOf(page: string): string {
  const digests = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `script-src 'self'${digests.join('')}; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'`;
}
