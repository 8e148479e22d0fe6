import { type NumberClause, type SearchClause, type TokenKey } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { stepOf } from './filters';
import { disjoint, type Step } from './many';

/** One alternative: an index row, and a token that its resource must also have. */
interface Pair {
  readonly row: TokenKey | NumberKey;
  readonly token: TokenKey | undefined;
}

interface NumberKey {
  readonly parameterId: number;
  readonly codeHash: number;
  readonly unitHash: number | undefined;
  readonly step: Step;
}

/**
 * Splits alternatives into pairs of a composite (`code$value`, `system|code$value`) and others. One statement reads all
 * pairs by their indexes, instead of testing each pair on each candidate.
 */
export function dividedAlternatives(clauses: readonly SearchClause[]): {
  readonly count: number;
  /** SQL that selects (main_date, resource_key) of the resources with one of the pairs. */
  readonly pairs: (bind: Binder) => string;
  readonly others: readonly SearchClause[];
} {
  const pairs: Pair[] = [];
  const others: SearchClause[] = [];
  for (const clause of clauses) {
    const found = pairsOf(clause);
    if (found === undefined) others.push(clause);
    else pairs.push(...found);
  }
  return { count: pairs.length, pairs: (bind) => rowsOf(pairs, bind), others };
}

/**
 * The pairs of a clause; undefined if the clause is none. A clause of tokens alone is no pair: its tokens are looked up
 * among those of each candidate.
 */
function pairsOf(clause: SearchClause): readonly Pair[] | undefined {
  if (clause.kind === 'number') return numberKeys(clause).map((row) => ({ row, token: undefined }));
  if (clause.kind !== 'all') return undefined;
  const [first, second, ...more] = clause.clauses;
  if (second?.kind !== 'token' || more.length > 0) return undefined;
  const rows = first?.kind === 'number' ? numberKeys(first) : first?.kind === 'token' ? first.tokens : undefined;
  return rows?.flatMap((row) => second.tokens.map((token) => ({ row, token })));
}

const numberKeys = ({ parameterIds, codeHash, ranges }: NumberClause): readonly NumberKey[] =>
  parameterIds.flatMap((parameterId) =>
    ranges.map((range) => ({ parameterId, codeHash, unitHash: range.unitHash, step: stepOf(range) })),
  );

function rowsOf(pairs: readonly Pair[], bind: Binder): string {
  const numbers = pairs.filter((pair): pair is Pair & { row: NumberKey } => 'step' in pair.row);
  const tokens = pairs.filter((pair): pair is Pair & { row: TokenKey } => 'hash' in pair.row);
  return [
    ...(numbers.length === 0 ? [] : [numberRows(withoutOverlaps(numbers), bind)]),
    ...(tokens.length === 0 ? [] : [tokenRows(tokens, bind)]),
  ].join(' union all ');
}

/** Joins overlapping ranges of the same rows. */
function withoutOverlaps(pairs: readonly (Pair & { row: NumberKey })[]): readonly (Pair & { row: NumberKey })[] {
  const groups = new Map<string, { readonly pair: Pair & { row: NumberKey }; readonly steps: Step[] }>();
  for (const pair of pairs) {
    const { row, token } = pair;
    const key = [row.parameterId, row.codeHash, row.unitHash, token?.hash, token?.systemHash].join();
    const group = groups.get(key) ?? { pair, steps: [] };
    groups.set(key, group);
    group.steps.push(row.step);
  }
  return [...groups.values()].flatMap(({ pair, steps }) =>
    disjoint(steps).map((step) => ({ ...pair, row: { ...pair.row, step } })),
  );
}

function numberRows(pairs: readonly (Pair & { row: NumberKey })[], bind: Binder): string {
  const rows = pairs.map(({ row }) => row);
  const keys = [
    `${bind.value(rows.map(({ parameterId }) => parameterId))}::integer[]`,
    `${bind.value(rows.map(({ codeHash }) => codeHash))}::bigint[]`,
    `${bind.value(rows.map(({ unitHash }) => unitHash ?? null))}::integer[]`,
    ...[0, 1].map((end) => `${bind.value(rows.map(({ step }) => step[end]))}::double precision[]`),
  ];
  return `select k.main_date, k.resource_key from unnest(${[...keys, ...tokensOf(pairs, bind)].join(', ')}) z(parameter_id, code_hash, unit_hash, low, high, token_hash, system_hash)
cross join lateral (select n.main_date, n.resource_key from search_number n where n.parameter_id = z.parameter_id and n.code_hash = z.code_hash
and n.value >= z.low and n.value <= z.high and (z.unit_hash is null or n.unit_hash = z.unit_hash) offset 0) k where ${HAS_TOKEN}`;
}

function tokenRows(pairs: readonly (Pair & { row: TokenKey })[], bind: Binder): string {
  const rows = pairs.map(({ row }) => row);
  const keys = [
    `${bind.value(rows.map(({ hash }) => hash))}::bigint[]`,
    `${bind.value(rows.map(({ systemHash }) => systemHash ?? null))}::integer[]`,
  ];
  return `select k.main_date, k.resource_key from unnest(${[...keys, ...tokensOf(pairs, bind)].join(', ')}) z(own_hash, own_system_hash, token_hash, system_hash)
cross join lateral (select n.main_date, n.resource_key from search_token n where n.token_hash = z.own_hash
and (z.own_system_hash is null or n.system_hash = z.own_system_hash) offset 0) k where ${HAS_TOKEN}`;
}

const tokensOf = (pairs: readonly Pair[], bind: Binder): readonly string[] => [
  `${bind.value(pairs.map(({ token }) => token?.hash ?? null))}::bigint[]`,
  `${bind.value(pairs.map(({ token }) => token?.systemHash ?? null))}::integer[]`,
];

/** SQL that tests whether the resource of row `k` has the token that its pair `z` also needs. */
const HAS_TOKEN = `(z.token_hash is null or (select true from search_token o where o.token_hash = z.token_hash
and (z.system_hash is null or o.system_hash = z.system_hash) and o.main_date = k.main_date and o.resource_key = k.resource_key limit 1) is true)`;
