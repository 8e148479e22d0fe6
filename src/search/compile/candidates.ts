import { readsTexts } from '../query/nested-clauses';
import { type DateClause, type NumberClause, type SearchClause } from '../query/search-query';
import { type Alternatives, parameterAlternatives, referenceAlternatives, tokenAlternatives } from './alternatives';
import { type Binder } from '../../store/binder';
import { CandidateKeys } from './candidate-keys';
import { withJoinedDates } from './date-bounds';
import {
  BY_BEGINNING,
  containsBeginnings,
  latestLongRows,
  longDates,
  mainDateRows,
  mostLongDates,
  reachFilter,
  unbegunRows,
} from './date-walk';
import {
  type Driver,
  driversOf,
  type GatheredDriver,
  isByDate,
  isMainDate,
  leadsToRange,
  patientAmong,
} from './drivers';
import { type Frequencies, resourcesOf } from './estimate';
import { isDeep } from './followed-links';
import { numberFilter } from './filters';
import { Predicates, type RowAlias } from './predicate';

/** The requested order of candidates, with start position and limit. */
export interface CandidateOrder {
  /**
   * SQL condition on alias `c` that begins after the start position: `and (c.main_date, …) < (…)`; empty at the first
   * page.
   */
  readonly keyset: string;
  readonly isDescending: boolean;
  /** SQL of the order: `order by …`. */
  readonly by: (alias: string) => string;
  /** SQL of the order with the limit of the page: `order by … limit …`. */
  readonly page: (alias: string) => string;
}

/** All matches, in no order. */
const UNORDERED: CandidateOrder = { keyset: '', isDescending: false, by: () => '', page: () => '' };

/**
 * Compiles the SQL that finds the matches of a search, as (main_date, resource_key). It reads the rows of one clause,
 * the driving clause, in the order of its index, and tests the other clauses on each row (docs/explanation/search.md).
 */
export class Candidates {
  private readonly predicates: Predicates;
  private readonly keys: CandidateKeys;
  /** Estimated number of rows on which the SQL that is being compiled tests clauses. */
  private tested = 0;

  constructor(
    private readonly bind: Binder,
    private readonly frequencies: Frequencies,
  ) {
    this.predicates = new Predicates(bind, frequencies);
    this.keys = new CandidateKeys(bind, (type, clause) => this.of(type, [clause]));
  }

  /** With an order, the SQL returns each match once; without one, it may return a match several times. */
  of(type: string, clauses: readonly SearchClause[], order = UNORDERED): string {
    const flat = withJoinedDates(clauses.flatMap(flattened));
    const drivers = driversOf(type, flat, this.frequencies, order !== UNORDERED);
    const [gathered] = drivers.gathered;
    const { ordered } = drivers;
    const outer = this.tested;
    this.tested = ordered?.estimate ?? resourcesOf(type, this.frequencies);
    try {
      if (gathered === undefined) return this.inOrder(type, flat, ordered, order);
      // Nearly all resources may be of the searched time, or have such a number. So a total gathers no more than the
      // other way reads.
      const isNarrowed = ordered !== undefined || flat.some(isMainDate);
      const isBounded = (clause: SearchClause): boolean =>
        leadsToRange(clause) ||
        (clause.kind === 'updated' && isNarrowed) ||
        (clause.kind === 'any' && clause.clauses.some(isBounded));
      return order === UNORDERED && !isBounded(gathered.clause)
        ? this.gathered(type, flat, gathered.clause)
        : this.fewOrInOrder(type, flat, gathered, drivers.gathered.slice(1), ordered, order);
    } finally {
      this.tested = outer;
    }
  }

  /** SQL that is true if the row matches all clauses. It assumes that most resources of the type are tested. */
  testOf(type: string, clauses: readonly SearchClause[], row: RowAlias): string {
    const tested = resourcesOf(type, this.frequencies);
    return textsLast(withJoinedDates(clauses))
      .map((clause) => ` and ${this.predicates.of(clause, { ...row, tested })}`)
      .join('');
  }

  eachOnce(type: string, clauses: readonly SearchClause[]): string {
    const flat = withJoinedDates(clauses.flatMap(flattened));
    const drivers = driversOf(type, flat, this.frequencies, false);
    const [gathered] = drivers.gathered;
    const { ordered } = drivers;
    const all = this.of(type, clauses);
    // Inside one index range, equal rows are adjacent and come once, and a resource has one time of update. Rows of
    // several ranges can repeat, so DISTINCT is needed.
    const isOnce = gathered
      ? gathered.clause.kind === 'updated'
      : isSingle(ordered?.clause) && !isByDate(flat, ordered);
    return isOnce ? all : `select distinct m.main_date, m.resource_key from (${all}) m`;
  }

  /**
   * Reads the rows of the driving clause by main date. If the search restricts the main date, only the part of the
   * index that can match is read. Periods longer than a day are read separately, since they may begin long before that
   * part, unless the searched time contains their beginning.
   */
  private inOrder(
    type: string,
    clauses: readonly SearchClause[],
    driver: Driver | undefined,
    order: CandidateOrder,
  ): string {
    const others = clauses.filter((clause) => clause !== driver?.clause);
    const date = others.find(isMainDate);
    if (date === undefined || !(containsBeginnings(date) || isByDate(clauses, driver)))
      return this.driven(type, driver?.clause, others, order, '');
    const withoutDate = clauses.filter((clause) => clause !== date);
    const short =
      driver === undefined
        ? this.byDate(date, withoutDate, order)
        : this.driven(type, driver.clause, others, order, reachFilter(date, 'c.main_date', this.bind));
    if (containsBeginnings(date)) return short;
    return `select ${order === UNORDERED ? '' : 'distinct '}b.main_date, b.resource_key from ((${short}) union all (${this.longOnes(type, date, withoutDate, order)})) b ${order.page('b')}`;
  }

  private driven(
    type: string,
    driver: SearchClause | undefined,
    others: readonly SearchClause[],
    order: CandidateOrder,
    bounds: string,
  ): string {
    switch (driver?.kind) {
      case 'token': {
        const patient = patientAmong(others);
        const rest = others.filter((clause) => clause !== patient);
        // A token row of a Patient holds, as `patient_hash`, the hash of this Patient itself.
        const row: RowAlias = type === 'Patient' ? { ...SEARCH_ROW, referenceHash: 'c.patient_hash' } : SEARCH_ROW;
        const where = `${this.patientEquals(patient)}${bounds}${this.tests(rest, row)}`;
        return this.perAlternative(tokenAlternatives(driver, this.bind), 'search_token', where, order);
      }
      case 'reference': {
        const where = `${bounds}${this.tests(others)}`;
        return this.perAlternative(referenceAlternatives(driver, this.bind), 'reference_link', where, order);
      }
      case 'number':
        return this.byNumber(driver, others, order, bounds);
      default:
        return this.walk(type, others, order, bounds);
    }
  }

  /**
   * SQL condition on the patient of a token row; empty if the search names no single patient. Token rows hold the
   * patient, so the rows of one patient and one code are a single range of the index.
   */
  private patientEquals(patient: SearchClause | undefined): string {
    if (patient?.kind !== 'reference' || patient.patientHash === undefined) return '';
    return ` and c.patient_hash = ${this.bind.value(patient.patientHash)}::bigint and c.patient_hash <> 0`;
  }

  /**
   * Reads numbers by date. The index orders the numbers of each code by date. The code of a number is the one that a
   * composite parameter pairs with it; numbers without a code are a separate group.
   */
  private byNumber(
    { parameterIds, codeHash, ranges }: NumberClause,
    others: readonly SearchClause[],
    order: CandidateOrder,
    bounds: string,
  ): string {
    const code = ` and c.code_hash = ${this.bind.value(codeHash)}::bigint`;
    const where = `${code} and ${numberFilter('c', ranges, this.bind)}${bounds}${this.tests(others)}`;
    return this.perAlternative(parameterAlternatives(parameterIds, this.bind), 'search_number', where, order);
  }

  private byDate(date: DateClause, others: readonly SearchClause[], order: CandidateOrder): string {
    const where = `${mainDateRows(date, this.bind)}${this.tests(others)}`;
    return this.perAlternative(parameterAlternatives(date.parameterIds, this.bind), BY_BEGINNING, where, order);
  }

  /**
   * Reads the periods longer than a day that overlap the searched time. Few are gathered and sorted; of many, a walk
   * from the latest beginning soon fills a page.
   */
  private longOnes(type: string, date: DateClause, others: readonly SearchClause[], order: CandidateOrder): string {
    const tests = this.tests(others);
    const page = `${order.keyset} ${order.page('c')}`;
    const all = longDates(date, this.bind);
    if (!order.isDescending) {
      return `select c.main_date, c.resource_key from (${all} offset 0) c where true${tests} ${page}`;
    }
    const most = `${this.bind.value(mostLongDates(resourcesOf(type, this.frequencies)))}::integer`;
    const alternatives = parameterAlternatives(date.parameterIds, this.bind);
    const begun = latestLongRows(date, this.bind);
    const unbegun = unbegunRows(date, this.bind);
    return `with few as materialized (${all} limit ${most} + 1),
gathered as materialized (select count(*) <= ${most} as is_all from few)
(select c.main_date, c.resource_key from few c where (select is_all from gathered)${tests} ${page})
union all (select o.* from (${this.perAlternative(alternatives, BY_BEGINNING, `${begun}${tests}`, order)}) o where not (select is_all from gathered))
union all (select o.* from (${this.perAlternative(alternatives, 'search_date', `${unbegun}${tests}`, order)}) o where not (select is_all from gathered))`;
  }

  private walk(type: string, others: readonly SearchClause[], order: CandidateOrder, bounds: string): string {
    const where = `c.type = ${this.bind.value(type)}${bounds}${this.tests(others, RESOURCE_ROW)}`;
    return `select c.main_date, c.resource_key from resource c where ${where} ${order.keyset} ${order.page('c')}`;
  }

  /** Reads each alternative in index order up to the limit of the page. An IN list would lose this order. */
  private perAlternative(
    { source, equals }: Alternatives,
    table: string,
    where: string,
    order: CandidateOrder,
  ): string {
    const rows = `select distinct c.main_date, c.resource_key from ${table} c
where ${equals('c')}${where} ${order.keyset} ${order.page('c')}`;
    if (source === undefined) return rows;
    return `select ${order === UNORDERED ? '' : 'distinct '}a.main_date, a.resource_key from ${source} cross join lateral (
${rows}) a ${order.page('a')}`;
  }

  /**
   * Gathers a bounded number of rows of the clause `gathered`, then sorts and tests them. If there are more rows, the
   * statement follows the index order instead, where many matches soon fill a page. The statement itself counts,
   * because such clauses have no statistics.
   */
  private fewOrInOrder(
    type: string,
    clauses: readonly SearchClause[],
    { clause: gathered, most: mostGathered }: GatheredDriver,
    [second]: readonly GatheredDriver[],
    ordered: Driver | undefined,
    order: CandidateOrder,
  ): string {
    const others = clausesBeside(clauses, gathered);
    const tests = this.tests(others);
    const many =
      second === undefined
        ? this.inOrder(type, clauses, ordered, order)
        : this.fewOrInOrder(type, clauses, second, [], ordered, order);
    const most = `${this.bind.value(mostGathered)}::integer`;
    // Several paths of links may lead to the same match, so DISTINCT makes the limit count matches and not paths.
    const once = isDeep(gathered) ? 'distinct ' : '';
    const rows = (keys: string): string =>
      `select ${once}k.main_date, k.resource_key from (${keys} offset 0) k limit ${most} + 1`;
    // Few of the resources in a range may have the link, so the limit counts those without it too.
    const few = leadsToRange(gathered)
      ? `ends as materialized (${rows(this.keys.of(gathered.type, gathered.clause))}),
few as materialized (${rows(this.keys.linked(type, gathered, 'select e.* from ends e'))})`
      : `few as materialized (${rows(this.keys.of(type, gathered))})`;
    const counted = leadsToRange(gathered) ? `(select count(*) from ends) <= ${most} and ` : '';
    return `with ${few},
gathered as materialized (select ${counted}count(*) <= ${most} as is_all from few)
select distinct b.main_date, b.resource_key from (
(select c.main_date, c.resource_key from (select distinct c.main_date, c.resource_key from few c where (select is_all from gathered) ${order.keyset} ${order.by('c')} offset 0) c where true${tests} ${order.page('c')})
union all (select o.main_date, o.resource_key from (${many}) o where not (select is_all from gathered))) b ${order.page('b')}`;
  }

  private gathered(type: string, clauses: readonly SearchClause[], driver: SearchClause): string {
    const others = clausesBeside(clauses, driver);
    return `select c.main_date, c.resource_key from (${this.keys.of(type, driver)} offset 0) c where true${this.tests(others)}`;
  }

  private tests(clauses: readonly SearchClause[], row = SEARCH_ROW): string {
    return textsLast(clauses)
      .map((clause) => ` and ${this.predicates.of(clause, { ...row, tested: this.tested })}`)
      .join('');
  }
}

/**
 * Puts tests that read the texts of resources last. PostgreSQL takes all tests for equally cheap and keeps their order,
 * but parsing a text costs a hundred times a look-up.
 */
const textsLast = (clauses: readonly SearchClause[]): readonly SearchClause[] => [
  ...clauses.filter((clause) => !readsTexts(clause)),
  ...clauses.filter(readsTexts),
];

const SEARCH_ROW: RowAlias = { name: 'c', isResource: false };
const RESOURCE_ROW: RowAlias = { name: 'c', isResource: true };

/**
 * The clauses to test on the keys that were collected from the index rows of the clause `gathered`: all other clauses,
 * and `gathered` itself if its keys are not exact.
 */
const clausesBeside = (clauses: readonly SearchClause[], gathered: SearchClause): readonly SearchClause[] =>
  clauses.filter((clause) => clause !== gathered || !CandidateKeys.areExact(clause));

/** Whether the driving clause has one alternative, or there is no driving clause and the whole type is read. */
function isSingle(driver: SearchClause | undefined): boolean {
  switch (driver?.kind) {
    case undefined:
      return true;
    case 'token':
      return driver.tokens.length === 1;
    case 'reference':
      return driver.links.length === 1;
    case 'number':
      return driver.parameterIds.length === 1;
    default:
      return false;
  }
}

/** The clauses that all must match, without those that only join others. */
export const flattened = (clause: SearchClause): readonly SearchClause[] =>
  clause.kind === 'all' ? clause.clauses.flatMap(flattened) : [clause];
