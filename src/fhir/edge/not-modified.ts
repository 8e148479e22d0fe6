import { type IncomingHttpHeaders } from 'node:http';

/**
 * Whether the caller already has this version (RFC 9110, section 13.2.2). If `If-None-Match` is sent, it decides, else
 * `If-Modified-Since` does. Tags are compared weakly, and a version without quotes counts too. Malformed tags and dates
 * are ignored.
 * @param version headers of the answer, with `ETag` and `Last-Modified`
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
