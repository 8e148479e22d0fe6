import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Environment } from '../platform/config/environment';
import { PublicFolder } from '../platform/http/public-folder';

/** The folder beside the compiled server into which `npm run docs` writes the site. */
const FOLDER = join(__dirname, '..', '..', 'site');

/** The folder into which `npm run build` writes the page of errors alone. */
const ERRORS_FOLDER = join(__dirname, '..', '..', 'errors');

/** Pattern of inline scripts. Each page begins with the same ones, which set its colors before it is drawn. */
const INLINE_SCRIPT = /<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * The pages of the documentation on `/docs/`. They are served if they were built and `SVC_API_DOCS` is on. The content
 * security policy of each page allows its inline scripts by their digests, and no other script.
 */
export function sitePages({ hasApiDocs }: Environment, folder = FOLDER): PublicFolder | undefined {
  const site = new PublicFolder({ path: '/docs', folder, sourcesOf });
  return hasApiDocs && site.isBuilt ? site : undefined;
}

/**
 * The page of errors, to which each error answer links, for servers without the built site, such as those of the npm
 * package. `SVC_API_DOCS=off` turns it off too.
 */
export const errorPages = ({ hasApiDocs }: Environment, folder = ERRORS_FOLDER): PublicFolder | undefined =>
  hasApiDocs ? new PublicFolder({ path: '/docs', folder, sourcesOf }) : undefined;

function sourcesOf(page: string): string {
  const digests = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `script-src 'self'${digests.join('')}; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'`;
}
