import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SortKey } from '../query/search-query';
import { dotSortOf } from './dot-clause';
import { valuePathsOf } from './json-path';
import { placesIn } from './near-clause';
import { pairedRowsOf } from './paired-clause';
import { parameterOf } from './parameter-clause';
import { type SearchScope } from './search-scope';
import { codePathOf } from './token-body';
import { invalid } from './values';

const MAX_KEYS = 5;

/** A key of `_sort`, and how it was sent. */
export type SentSortKey = SortKey & { readonly sent: string };

/**
 * Reads `_sort=-date,name`, without the keys that a lenient search ignores. Resources without a value come last
 * (http://hl7.org/fhir/R4/search.html#sort).
 */
export function sortOf(query: URLSearchParams, scope: SearchScope): readonly SentSortKey[] {
  const names = (query.get('_sort') ?? '').split(',').filter((name) => name !== '');
  if (names.length > MAX_KEYS) throw invalid('_sort', `takes at most ${MAX_KEYS} keys`);
  return names.flatMap((name) => {
    const isDescending = name.startsWith('-');
    const by = keyOf(isDescending ? name.slice(1) : name, query, scope);
    return by === undefined ? [] : [{ by, isDescending, sent: name }];
  });
}

function keyOf(code: string, query: URLSearchParams, scope: SearchScope): SortKey['by'] | undefined {
  if (code.startsWith('.')) return dotSortOf(code, scope);
  if (code === '_lastUpdated') return { kind: 'updated' };
  if (code === '_createdAt') return { kind: 'created' };
  if (code === '_id') return { kind: 'id' };
  const parameter = parameterOf(code, scope);
  if (parameter === undefined) return undefined;
  const { kind, storedAs: parameterIds } = parameter;
  switch (kind) {
    case 'date':
      return scope.parameters.mainDateParameter(scope.type)?.parameterId === parameter.parameterId
        ? { kind: 'main-date' }
        : { kind, parameterIds };
    case 'string':
      return { kind, parameterIds };
    case 'number':
      return { kind: 'number', parameterIds };
    case 'quantity': {
      const paired = pairedRowsOf(code, query, scope);
      return { kind: 'number', parameterIds, ...(paired && { paired }) };
    }
    case 'token':
    case 'uri':
    case 'reference':
      return { kind: 'path', paths: sortPathsOf(parameter), as: 'json' };
    case 'special': {
      const places = placesIn(code, query);
      if (places.length === 0)
        throw invalid(
          '_sort',
          `sorts by "${code}" only in a search with that parameter, which gives the place to measure from`,
        );
      return { kind: 'near', parameterId: parameter.parameterId, places };
    }
    case 'composite':
      throw invalid('_sort', `cannot sort by "${code}"`);
  }
}

const sortPathsOf = (parameter: SearchParameter): readonly string[] =>
  valuePathsOf(parameter, '_sort').map((value) =>
    value.type === 'Reference' ? `${value.path}.reference` : codePathOf(value),
  );
