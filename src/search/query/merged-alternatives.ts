import { addTo } from '../../platform/lists-by-key';
import { joined } from './nested-clauses';
import { type SearchClause } from './search-query';

/** The member with the values of a clause that matches if one of its values does. */
const VALUES: Readonly<Partial<Record<SearchClause['kind'], string>>> = {
  id: 'ids',
  token: 'tokens',
  reference: 'links',
  string: 'texts',
  date: 'boxes',
  updated: 'boxes',
  created: 'boxes',
  number: 'ranges',
};

type Members = Readonly<Record<string, unknown>>;
type JoinedClause = Extract<SearchClause, { readonly kind: 'all' | 'any' }>;

/**
 * Joins alternatives by OR. Alternatives that differ only in values become one clause: `organization=a` and
 * `organization=b` become `organization=a,b`. A statement looks up the values of one clause together, but it tests each
 * clause on each row.
 */
export function eitherOf(alternatives: readonly SearchClause[]): SearchClause {
  let clauses = merged(alternatives.flatMap((one) => (one.kind === 'any' ? one.clauses : [one])));
  const most = Math.max(0, ...clauses.map((one) => (one.kind === 'all' ? one.clauses.length : 0)));
  for (let place = 0; place < most; place++) clauses = factoredAt(place, clauses);
  return joined('any', clauses);
}

/** Merges clauses of one form. Clauses without values, such as negations, are merged only if they are equal. */
const merged = (clauses: readonly SearchClause[]): readonly SearchClause[] =>
  groupsBy((clause) => comparedText({ ...clause, ...withoutValues(clause) }), clauses).map(mergedGroup);

function withoutValues({ kind }: SearchClause): Members {
  if (kind === 'chain' || kind === 'has') return { clause: undefined };
  const member = VALUES[kind];
  return member === undefined ? {} : { [member]: undefined, patientHash: undefined };
}

function mergedGroup(group: readonly SearchClause[]): SearchClause {
  const [first, second] = group;
  if (first === undefined || second === undefined) return first ?? NOTHING;
  // A link leads to a match of one clause or of the other if it leads to a match of either.
  if (first.kind === 'chain' || first.kind === 'has')
    return { ...first, clause: eitherOf(group.map((one) => ('clause' in one ? one.clause : one))) };
  const member = VALUES[first.kind];
  if (member === undefined) return first;
  const values = group.map((one): Members => ({ ...one })).flatMap((members) => members[member]);
  // `patientHash` is left out, since the clause now names several patients.
  return { ...first, ...withoutValues(first), [member]: values };
}

/** Merges `x & a` and `x & b`, which differ only in the clause at `place`, to `x & (a | b)`. */
function factoredAt(place: number, clauses: readonly SearchClause[]): readonly SearchClause[] {
  const formOf = (clause: SearchClause): string =>
    comparedText(isLongAs(place, clause) ? { ...clause, clauses: clause.clauses.with(place, NOTHING) } : clause);
  return groupsBy(formOf, clauses).map((group) => {
    const [first = NOTHING, second] = group;
    if (second === undefined || !isLongAs(place, first)) return first;
    const parts = group.flatMap((one) => (isLongAs(place, one) ? one.clauses.slice(place, place + 1) : []));
    return { ...first, clauses: first.clauses.with(place, eitherOf(parts)) };
  });
}

const NOTHING = joined('any', []);

const isLongAs = (place: number, clause: SearchClause): clause is JoinedClause =>
  clause.kind === 'all' && place < clause.clauses.length;

function groupsBy(
  formOf: (clause: SearchClause) => string,
  clauses: readonly SearchClause[],
): readonly SearchClause[][] {
  const groups = new Map<string, SearchClause[]>();
  for (const clause of clauses) addTo(groups, formOf(clause), clause);
  return [...groups.values()];
}

/** Equal texts mean equal clauses, so numbers that JSON cannot represent (infinity, `bigint`) are written as texts. */
const comparedText = (clause: object): string =>
  JSON.stringify(clause, (_member, value: unknown) =>
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value,
  );
