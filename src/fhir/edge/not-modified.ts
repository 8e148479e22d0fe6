import { type IncomingHttpHeaders } from 'node:http';

/**
 * Whether the caller has this version (RFC 9110, section 13.2.2): `If-None-Match` decides if sent, else
 * `If-Modified-Since`. Tags are compared weakly, and a bare version counts too; malformed tags and dates are ignored.
 * @param version the answer's `ETag` and `Last-Modified`
 */
export function isNotModified(headers: IncomingHttpHeaders, version: Readonly<Record<string, string>>): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags.trim() === '*' || isListed(version.ETag ?? '', tags);
  const since = headers['if-modified-since'];
  return since !== undefined && Date.parse(version['Last-Modified'] ?? '') <= Date.parse(since);
}

const isListed = (etag: string, tags: string): boolean => tags.split(',').some((tag) => opaque(tag) === opaque(etag));

const opaque = (tag: string): string =>
  tag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1');
