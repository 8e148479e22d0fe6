import {
  type BodyClause,
  type NearClause,
  type NumberClause,
  type PathClause,
  type ReferenceClause,
  type SearchClause,
  type StringClause,
  type TokenClause,
} from '../query/search-query';
import {
  type Alternatives,
  parameterAlternatives,
  patientsOf,
  referenceAlternatives,
  rowsOfEach,
  tokenAlternatives,
} from './alternatives';
import { type Binder } from '../../store/binder';
import { createdFilter, numberFilter, stringFilter } from './filters';
import { mayHold, wordsTest } from './body-text';
import { among, FEW } from './many';
import { isLatitude, longitudeOf, metersTo, placesSource } from './near';
import { dateFilter, instantFilter } from './date-filter';
import { estimateOf, type Frequencies, nothingIsFrequent } from './estimate';
import {
  followsLinks,
  isDeep,
  isLink,
  type LinkClause,
  referrersOf,
  resourcesWith,
  targetHashesOf,
} from './followed-links';
import { dividedAlternatives } from './paired-rows';
import { pathTest } from './path-test';
import { manyPrefixes } from './string-rows';

/** An SQL row that identifies a resource: a row of `resource`, or a search row with main date and key. */
export interface RowAlias {
  readonly name: string;
  readonly isResource: boolean;
  /** SQL of the hash by which references name the resource, if the search row holds it. */
  readonly referenceHash?: string;
  /** Estimated number of such rows to test; absent means few. */
  readonly tested?: number | undefined;
}

/** Number of rows that are gathered at the cost of one lookup of a key. */
const ROWS_PER_PROBE = 6;

/** Maximum number of rows to gather for a test, since a gathered key takes about 60 bytes. */
const MOST_GATHERED = 3_000_000;

/**
 * Compiles clauses to boolean SQL on a candidate row; the result is never null. Each clause is a lookup by exact key in
 * a scalar subquery, which runs row by row: EXISTS or IN would become hash joins over whole tables.
 */
export class Predicates {
  private aliases = 0;

  constructor(
    private readonly bind: Binder,
    private readonly frequencies: Frequencies = nothingIsFrequent,
  ) {}

  of(clause: SearchClause, row: RowAlias): string {
    switch (clause.kind) {
      case 'id':
        return `${columnOf(row, 'id')} = any(${this.bind.value(clause.ids)}::text[])`;
      case 'updated':
        return this.onResource(row, (r) => instantFilter(`${r}.updated_at`, clause.boxes, this.bind));
      case 'created':
        return this.onResource(row, (r) => createdFilter(r, clause.boxes, this.bind));
      case 'words':
        return this.onResource(row, (r) => wordsTest(clause, `${r}.body`, this.bind));
      case 'path':
        return this.path(clause, row);
      case 'presence': {
        const found = `${columnOf(row, 'present')} & ${this.bind.value(clause.mask.toString())}::bigint`;
        return `(${found}) ${clause.isPresent ? '<>' : '='} 0`;
      }
      case 'token':
        return this.isGathered(clause, clause.tokens.length, row)
          ? this.isKeyOf(
              rowsOfEach(tokenAlternatives(clause, this.bind), 'search_token', 'p', ['resource_key'], ''),
              row,
            )
          : this.probe('search_token', tokenAlternatives(clause, this.bind), row);
      case 'reference':
        return clause.links.length > FEW
          ? this.ownLinks(clause, row)
          : this.probe('reference_link', referenceAlternatives(clause, this.bind), row);
      case 'string':
        return this.string(clause, row);
      case 'date':
        return this.ownRow('search_date', clause.parameterIds, row, (p) => dateFilter(p, clause.boxes, this.bind));
      case 'number':
        return this.number(clause, row);
      case 'near':
        return this.near(clause, row);
      case 'body':
        return this.body(clause, row);
      case 'chain':
        return isDeep(clause) ? this.deep(itself(row), clause, row.tested) : this.chain(clause, row);
      case 'has':
        return isDeep(clause) ? this.deep(itself(row), clause, row.tested) : this.has(clause, row);
      case 'all':
        return this.joined(clause.clauses, 'all', row);
      case 'any':
        return this.any(clause.clauses, row);
      case 'not':
        return `not (${this.of(clause.clause, row)})`;
      case 'quantity':
      case 'value-set':
        throw new Error(`A ${clause.kind} clause has to be resolved before it is compiled`);
    }
  }

  private joined(clauses: readonly SearchClause[], kind: 'all' | 'any', row: RowAlias): string {
    if (clauses.length === 0) return kind === 'all' ? 'true' : 'false';
    return `(${clauses.map((clause) => this.of(clause, row)).join(kind === 'all' ? ' and ' : ' or ')})`;
  }

  private any(clauses: readonly SearchClause[], row: RowAlias): string {
    const { count, pairs, others } = dividedAlternatives(clauses);
    const paired = clauses.filter((one) => !others.includes(one));
    if (!this.isGathered({ kind: 'any', clauses: paired }, count, row)) return this.joined(clauses, 'any', row);
    return `(${this.isKeyOf(pairs(this.bind), row)} or ${this.joined(others, 'any', row)})`;
  }

  /** Whether gathering the rows of all alternatives once is cheaper than a lookup of each for each candidate. */
  private isGathered(clause: SearchClause, alternatives: number, { tested = 0 }: RowAlias): boolean {
    if (alternatives <= FEW) return false;
    const rows = estimateOf(clause, this.frequencies);
    return rows <= MOST_GATHERED && rows < tested * alternatives * ROWS_PER_PROBE;
  }

  private isKeyOf(keys: string, { name }: RowAlias): string {
    return among(`${name}.resource_key`, `select m.resource_key from (${keys}) m`);
  }

  /** Tests the links of a candidate against the many requested ones. */
  private ownLinks({ links }: ReferenceClause, row: RowAlias): string {
    const columns = [links.map(({ targetHash }) => targetHash), links.map(({ parameterId }) => parameterId)];
    const [targets = '', parameters = ''] = columns.map((one) => this.bind.value(one));
    return this.ownRow(
      'reference_link',
      [...new Set(links.map(({ parameterId }) => parameterId))],
      row,
      (p) =>
        `((${p}.target_hash, ${p}.parameter_id) in (select z.t, z.p from unnest(${targets}::bigint[], ${parameters}::integer[]) z(t, p))) is true`,
    );
  }

  private string(clause: StringClause, row: RowAlias): string {
    if (clause.match === 'prefix' && this.isGathered(clause, clause.texts.length, row))
      return this.isKeyOf(manyPrefixes(clause, this.bind), row);
    return this.ownRow('search_string', clause.parameterIds, row, (p) => stringFilter(p, clause, this.bind));
  }

  private ownRow(
    table: string,
    parameterIds: readonly number[],
    row: RowAlias,
    filter: (own: string) => string,
  ): string {
    const p = this.alias('p');
    return anyRow(
      `from ${table} ${p} where ${p}.resource_key = ${row.name}.resource_key
and ${p}.parameter_id = any(${this.bind.value(parameterIds)}::integer[]) and ${filter(p)}`,
    );
  }

  private number({ parameterIds, codeHash, ranges }: NumberClause, row: RowAlias): string {
    const { source, equals } = parameterAlternatives(parameterIds, this.bind);
    const code = this.bind.value(codeHash);
    return this.probe(
      'search_number',
      { source, equals: (p) => `${equals(p)} and ${p}.code_hash = ${code}::bigint` },
      row,
      (p) => ` and ${numberFilter(p, ranges, this.bind)}`,
    );
  }

  private near({ parameterId, places }: NearClause, row: RowAlias): string {
    const p = this.alias('p');
    const id = `${this.bind.value(parameterId)}::integer`;
    return anyRow(
      `from search_number ${p} cross join ${longitudeOf(p, id)} cross join ${placesSource(places, this.bind)}
where ${isLatitude(p, id)} and ${sameRow(p, row)} and ${metersTo(p)} <= y.meters`,
    );
  }

  private body({ paths, hint }: BodyClause, row: RowAlias): string {
    return this.onResource(row, (r) => {
      const found = paths.map((path) => `jsonb_path_exists(${r}.body::jsonb, ${this.bind.value(path)}::jsonpath)`);
      const tests = [
        ...(hint === undefined ? [] : [mayHold(`${r}.body`, hint, this.bind)]),
        `(${found.length === 0 ? 'false' : found.join(' or ')})`,
      ];
      return tests.join(' and ');
    });
  }

  private path({ path, test, hint }: PathClause, row: RowAlias): string {
    return this.onResource(row, (r) => {
      const v = this.alias('v');
      const values = `from jsonb_path_query(${r}.body::jsonb, ${this.bind.value(path)}::jsonpath) ${v}`;
      const found = anyRow(`${values} where ${pathTest(test, v, this.bind)}`);
      return hint === undefined ? found : `${mayHold(`${r}.body`, hint, this.bind)} and ${found}`;
    });
  }

  private onResource(row: RowAlias, test: (alias: string) => string): string {
    if (row.isResource) return `(${test(row.name)})`;
    const r = this.alias('b');
    return anyRow(`from resource ${r} where ${r}.resource_key = ${row.name}.resource_key and ${test(r)}`);
  }

  /**
   * Whether a chain of links leads from the row to a match of the clause. Each step yields distinct resources, so the
   * cost grows with the rows reached and not with the paths.
   * @param reached SQL of (main_date, resource_key)
   */
  private deep(reached: string, clause: SearchClause, tested: number | undefined): string {
    if (isLink(clause)) return this.deep(this.step(reached, clause), clause.clause, tested);
    if (clause.kind === 'any' && followsLinks(clause))
      return `(${clause.clauses.map((one) => this.deep(reached, one, tested)).join(' or ')})`;
    const last = clause.kind === 'all' ? clause.clauses.findLast(isLink) : undefined;
    if (clause.kind === 'all' && last !== undefined) {
      const others = clause.clauses.filter((one) => one !== last);
      const s = this.alias('s');
      const test = this.joined(others, 'all', { name: s, isResource: false, tested });
      return this.deep(
        `select ${s}.main_date, ${s}.resource_key from (${reached} offset 0) ${s} where ${test}`,
        last,
        tested,
      );
    }
    const s = this.alias('s');
    return anyRow(`from (${reached} offset 0) ${s} where ${this.of(clause, { name: s, isResource: false, tested })}`);
  }

  private step(reached: string, { kind, parameterIds, type }: LinkClause): string {
    if (kind === 'has')
      return `select distinct o.main_date, o.resource_key from (${referrersOf(reached, parameterIds, this.bind)}) o`;
    const targets = `select distinct o.target_hash from (${targetHashesOf(reached, parameterIds, this.bind)}) o`;
    return `select distinct o.main_date, o.resource_key from (${resourcesWith(targets, type, this.bind)}) o`;
  }

  private chain({ parameterIds, type, clause }: SearchClause & { kind: 'chain' }, row: RowAlias): string {
    const [l, t] = [this.alias('l'), this.alias('t')];
    const target: RowAlias = { name: t, isResource: true, tested: row.tested };
    return anyRow(
      `from reference_link ${l} cross join lateral (select 1 from resource ${t} where ${t}.reference_hash = ${l}.target_hash
and ${t}.type = ${this.bind.value(type)} and ${this.of(clause, target)} limit 1) ${this.alias('f')}
where ${l}.resource_key = ${row.name}.resource_key and ${l}.parameter_id = any(${this.bind.value(parameterIds)}::integer[])`,
    );
  }

  private has(has: SearchClause & { kind: 'has' }, row: RowAlias): string {
    const { parameterIds, clause, isByPatient } = has;
    if (isByPatient && clause.kind === 'token') return this.patientHas(clause, row);
    if (isByFewIds(clause)) return this.namedHas(has, row);
    const [l, z] = [this.alias('l'), this.alias('z')];
    const source: RowAlias = { name: l, isResource: false, tested: row.tested };
    return anyRow(
      `from unnest(${this.bind.value(parameterIds)}::integer[]) ${z}(parameter_id) cross join lateral (
select 1 from reference_link ${l} where ${l}.target_hash = ${ownHashOf(row)}
and ${l}.parameter_id = ${z}.parameter_id and ${this.of(clause, source)} limit 1) ${this.alias('f')}`,
    );
  }

  /** Tests the links of the named resources: many others may refer to the row, as thousands of Lists to one Patient. */
  private namedHas({ parameterIds, type, clause }: SearchClause & { kind: 'has' }, row: RowAlias): string {
    const [s, l] = [this.alias('s'), this.alias('l')];
    return anyRow(
      `from resource ${s} cross join lateral (select 1 from reference_link ${l} where ${l}.resource_key = ${s}.resource_key
and ${l}.parameter_id = any(${this.bind.value(parameterIds)}::integer[]) and ${l}.target_hash = ${ownHashOf(row)} limit 1) ${this.alias('f')}
where ${s}.type = ${this.bind.value(type)} and ${this.of(clause, { name: s, isResource: true, tested: row.tested })}`,
    );
  }

  /** Tests by the token rows of the patient, which hold the patient of their resource. */
  private patientHas(clause: TokenClause, row: RowAlias): string {
    if (this.isGathered(clause, clause.tokens.length, row))
      return among(ownHashOf(row), `select m.target_hash from (${patientsOf(clause, this.bind)}) m`);
    const { source, equals } = tokenAlternatives(clause, this.bind);
    const p = this.alias('p');
    const found = `from search_token ${p} where ${p}.patient_hash = ${ownHashOf(row)} and ${p}.patient_hash <> 0 and ${equals(p)}`;
    return anyRow(this.ofEach(source, found));
  }

  /** SQL that is true if the index has a row with the key of the candidate. */
  private probe(
    table: string,
    { source, equals }: Alternatives,
    row: RowAlias,
    filter: (probe: string) => string = () => '',
  ): string {
    const p = this.alias('p');
    return anyRow(this.ofEach(source, `from ${table} ${p} where ${equals(p)} and ${sameRow(p, row)}${filter(p)}`));
  }

  private ofEach(source: string | undefined, found: string): string {
    return source === undefined
      ? found
      : `from ${source} cross join lateral (select 1 ${found} limit 1) ${this.alias('f')}`;
  }

  private alias(letter: string): string {
    return `${letter}${++this.aliases}`;
  }
}

const isByFewIds = (clause: SearchClause): boolean =>
  clause.kind === 'id' ? clause.ids.length <= FEW : clause.kind === 'all' && clause.clauses.some(isByFewIds);

/** SQL that is true if the subquery has a row. PostgreSQL never turns a scalar subquery into a join. */
const anyRow = (rest: string): string => `(select true ${rest} limit 1) is true`;

const itself = ({ name }: RowAlias): string => `select ${name}.main_date, ${name}.resource_key`;

const sameRow = (probe: string, { name }: RowAlias): string =>
  `${probe}.main_date = ${name}.main_date and ${probe}.resource_key = ${name}.resource_key`;

/** SQL of a column of `resource`. The alias may name a row of `resource`, or a search index row of the resource. */
const columnOf = ({ name, isResource }: RowAlias, column: string): string =>
  isResource
    ? `${name}.${column}`
    : `(select r.${column} from resource r where r.resource_key = ${name}.resource_key limit 1)`;

const ownHashOf = (row: RowAlias): string => row.referenceHash ?? columnOf(row, 'reference_hash');
