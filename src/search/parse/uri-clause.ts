import { type RowHashes } from '../../search-index/extract/row-hashes';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause } from '../query/search-query';
import { bodyClauseOf, pathText } from './json-path';
import { type SearchScope, type SentParameter } from './search-scope';
import { assertFew, unescaped, unsupportedModifier } from './values';

/** Reads a search of a URI (http://hl7.org/fhir/R4/search.html#uri). */
export function uriClauseOf(
  { parameter, modifier, name, values }: SentParameter,
  { hashes }: SearchScope,
): SearchClause {
  const uris = values.map(unescaped);
  switch (modifier) {
    case undefined:
      return exactly(parameter, uris, hashes);
    case 'not':
      return { kind: 'not', clause: exactly(parameter, uris, hashes) };
    case 'above':
      return exactly(parameter, uris.flatMap(ancestorsOf), hashes);
    case 'below': {
      assertFew(name, uris);
      const condition = uris
        .flatMap((uri) => [`@ == ${pathText(uri)}`, `@ starts with ${pathText(uri.endsWith('/') ? uri : `${uri}/`)}`])
        .join(' || ');
      return bodyClauseOf(parameter, name, ({ path }) => [`${path} ? (${condition})`]);
    }
    default:
      throw unsupportedModifier(name, ['above', 'below', 'not', 'missing']);
  }
}

function exactly({ storedAs }: SearchParameter, uris: readonly string[], hashes: RowHashes): SearchClause {
  const tokens = storedAs.flatMap((parameterId) => uris.map((uri) => ({ hash: hashes.ofToken(parameterId, uri) })));
  return { kind: 'token', tokens };
}

/**
 * The URIs that `uri` is below: `http://a/b/c` is below `http://a/b` and `http://a`, with or without a trailing slash.
 */
function ancestorsOf(uri: string): string[] {
  const found = [uri];
  const root = /^[a-z][a-z0-9+.-]*:(\/\/[^/]*)?/i.exec(uri)?.[0].length ?? 0;
  for (let end = uri.lastIndexOf('/'); end >= root; end = uri.lastIndexOf('/', end - 1)) {
    found.push(uri.slice(0, end + 1), uri.slice(0, end));
    if (end === 0) break;
  }
  return found.filter((one) => one !== '');
}
