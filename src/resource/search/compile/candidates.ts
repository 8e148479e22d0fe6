import { earliestInstant, latestInstant } from '../../../fhir/instant';
import { type DateClause, type NumberClause, type SearchClause } from '../search-query';
import { type Binder } from './binder';
import { CandidateKeys } from './candidate-keys';
import { reachOf, withJoinedDates } from './date-bounds';
import { estimateOf, type Frequencies } from './estimate';
import { dateFilter, instantPlace } from './date-filter';
import { numberFilter, Predicates, referenceAlternatives, tokenAlternatives } from './predicate';

/** The order in which candidates are wanted, with the place to begin at and the most of them. */
export interface CandidateOrder {
  /** On alias `c`: `and (c.main_date, …) < (…)`, or nothing. */
  readonly keyset: string;
  /** `order by … limit …` on alias `c`. */
  readonly page: (alias: string) => string;
}

/** The clause that yields the candidates, and about how many. */
interface Driver {
  readonly clause: SearchClause;
  readonly estimate: number;
}

interface Drivers {
  /** The clause whose index yields its rows by main date. */
  readonly ordered: Driver | undefined;
  /** The clause whose rows are worth gathering. */
  readonly gathered: Driver | undefined;
}

/** So many candidates are gathered and sorted at most; when there are more, the order of an index is followed instead. */
const MOST_GATHERED = 1_000;

/** A driver in index order with fewer candidates than this is not worth a try at gathering those of another clause. */
const WORTH_GATHERING = 300;

/** Nobody tries to gather what is guessed to be more than this. */
const DEAREST_GATHERING = 20_000;

/** Of tokens at the other end of a link the statistics tell beforehand that they are too many. */
const MOST_FOLLOWED = 3_000;

/** A driver with fewer candidates is not worth a second look by date. */
const WORTH_BOUNDING = 2_000;

/** Of the rows of a token, how many one patient has at most. */
const SHARE_OF_PATIENT = 0.1;

const DAY = 86_400_000;

/**
 * SQL that yields (main_date, resource_key) of the matches. One clause drives in the order of its index, the others are
 * probed (docs/architecture.md, "Search").
 */
export class Candidates {
  private readonly predicates: Predicates;
  private readonly keys: CandidateKeys;

  constructor(
    private readonly bind: Binder,
    private readonly frequencies: Frequencies,
  ) {
    this.predicates = new Predicates(bind);
    this.keys = new CandidateKeys(bind, (type, clause) => this.of(type, [clause]));
  }

  /** With an order each match comes once; without one it may come again. */
  of(type: string, clauses: readonly SearchClause[], order?: CandidateOrder): string {
    const flat = withJoinedDates(clauses.flatMap(flattened));
    const { ordered, gathered } = this.driversOf(flat, order !== undefined);
    if (gathered === undefined) return this.inOrder(type, flat, ordered, order);
    return order === undefined
      ? this.gathered(type, flat, gathered.clause)
      : this.fewOrInOrder(type, flat, gathered.clause, ordered, order);
  }

  /** All matches, each once. */
  eachOnce(type: string, clauses: readonly SearchClause[]): string {
    const flat = withJoinedDates(clauses.flatMap(flattened));
    const { ordered, gathered } = this.driversOf(flat, false);
    const all = this.of(type, clauses);
    // One range of an index has equal rows side by side; what comes from several places is told apart by a hash table.
    const isOneRange = gathered === undefined && isSingle(ordered?.clause) && !this.isByDate(flat, ordered);
    return isOneRange ? all : `select distinct m.main_date, m.resource_key from (${all}) m`;
  }

  /** Gathering is left out where it cannot pay. */
  private driversOf(clauses: readonly SearchClause[], isPage: boolean): Drivers {
    const ordered = this.orderedDriverOf(clauses);
    const gathered = this.gatheredDriverOf(clauses, isPage);
    if (gathered === undefined || ordered === undefined) return { ordered, gathered };
    const isWorthIt = ordered.estimate > WORTH_GATHERING && (isPage || gathered.estimate < ordered.estimate);
    return { ordered, gathered: isWorthIt ? gathered : undefined };
  }

  private isByDate(clauses: readonly SearchClause[], driver: Driver | undefined): boolean {
    return clauses.some(isMainDate) && (driver === undefined || driver.estimate > WORTH_BOUNDING);
  }

  private orderedDriverOf(clauses: readonly SearchClause[]): Driver | undefined {
    const patient = patientAmong(clauses);
    const patientRows = patient && estimateOf(patient, this.frequencies);
    return leastOf(clauses.filter(isOrdered), (clause) => {
      const rows = estimateOf(clause, this.frequencies);
      if (rows === undefined || patientRows === undefined || clause.kind !== 'token') return rows;
      return Math.min(rows, patientRows) * SHARE_OF_PATIENT;
    });
  }

  private gatheredDriverOf(clauses: readonly SearchClause[], isPage: boolean): Driver | undefined {
    return leastOf(
      clauses.filter(({ kind }) => kind !== 'token' && kind !== 'reference'),
      (clause) => {
        if (clause.kind === 'number' && clause.codeHash !== 0) return undefined;
        const rows = estimateOf(clause, this.frequencies);
        const most = isPage && followsToken(clause) ? MOST_FOLLOWED : DEAREST_GATHERING;
        return rows !== undefined && rows <= most ? rows : undefined;
      },
    );
  }

  /**
   * A search by the main date reads only the part of the index that can match. What lasts for more than a day is looked
   * up apart, since it may begin long before.
   */
  private inOrder(
    type: string,
    clauses: readonly SearchClause[],
    driver: Driver | undefined,
    order: CandidateOrder | undefined,
  ): string {
    const others = clauses.filter((clause) => clause !== driver?.clause);
    const date = others.find(isMainDate);
    if (date === undefined || !this.isByDate(clauses, driver))
      return this.driven(type, driver?.clause, others, order, '');
    const withoutDate = clauses.filter((clause) => clause !== date);
    const short =
      driver === undefined
        ? this.byDate(date, withoutDate, order)
        : this.driven(type, driver.clause, others, order, this.boundsOf(date));
    return `select ${order === undefined ? '' : 'distinct '}b.main_date, b.resource_key from ((${short}) union all (${this.longOnes(date, withoutDate, order)})) b ${order?.page('b') ?? ''}`;
  }

  private driven(
    type: string,
    driver: SearchClause | undefined,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
    bounds: string,
  ): string {
    switch (driver?.kind) {
      case 'token': {
        const { source, equals } = tokenAlternatives(driver, this.bind);
        const patient = patientAmong(others);
        const rest = others.filter((clause) => clause !== patient);
        const where = `${equals('c')}${this.patientEquals(patient)} ${bounds}`;
        return this.perAlternative(source, 'search_token', where, rest, order);
      }
      case 'reference': {
        const { source, equals } = referenceAlternatives(driver, this.bind);
        return this.perAlternative(source, 'reference_link', `${equals('c')} ${bounds}`, others, order);
      }
      case 'number':
        return this.byNumber(driver, others, order, bounds);
      default:
        return this.walk(type, others, order, bounds);
    }
  }

  /** Token rows carry the patient: patient and code together are one range of an index. */
  private patientEquals(patient: SearchClause | undefined): string {
    if (patient?.kind !== 'reference' || patient.patientHash === undefined) return '';
    return ` and c.patient_hash = ${this.bind.value(patient.patientHash)}::bigint and c.patient_hash <> 0`;
  }

  /** The rows of a number stand by date for each code that they are paired with, and for those without a code. */
  private byNumber(
    { parameterIds, codeHash, ranges }: NumberClause,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
    bounds: string,
  ): string {
    const source = `unnest(${this.bind.value(parameterIds)}::integer[]) z(parameter_id)`;
    const where = `c.parameter_id = z.parameter_id and c.code_hash = ${this.bind.value(codeHash)}::bigint
and ${numberFilter('c', ranges, this.bind)} ${bounds}`;
    return this.perAlternative(source, 'search_number', where, others, order);
  }

  private byDate(
    { parameterIds, boxes }: DateClause,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
  ): string {
    const { from, to } = reachOf(boxes);
    const source = `unnest(${this.bind.value(parameterIds)}::integer[]) z(parameter_id)`;
    const where = [
      'c.parameter_id = z.parameter_id',
      // What has no beginning counts from its end; it lasts for more than a day.
      `c.main_date > ${instantPlace(earliestInstant, this.bind)}`,
      ...(from === undefined ? [] : [`c.main_date >= ${instantPlace(from - DAY, this.bind)}`]),
      ...(to === undefined ? [] : [`c.main_date <= ${instantPlace(to, this.bind)}`]),
      dateFilter('c', boxes, this.bind),
    ].join(' and ');
    return this.perAlternative(source, '(select d.*, d.low as main_date from search_date d)', where, others, order);
  }

  private boundsOf({ boxes }: DateClause): string {
    const { from, to } = reachOf(boxes);
    return [
      ...(from === undefined ? [] : [`and c.main_date >= ${instantPlace(from - DAY, this.bind)}`]),
      ...(to === undefined ? [] : [`and c.main_date <= ${instantPlace(to, this.bind)}`]),
    ].join(' ');
  }

  private longOnes(date: DateClause, others: readonly SearchClause[], order: CandidateOrder | undefined): string {
    const [earliest, latest] = [instantPlace(earliestInstant, this.bind), instantPlace(latestInstant, this.bind)];
    const tests = ['true', ...this.tests(others, false)].join(' and ');
    return `select c.main_date, c.resource_key from (
select case when g.low > ${earliest} or g.high = ${latest} then g.low else g.high end as main_date, g.resource_key
from (${this.keys.longDates(date)} offset 0) g) c where ${tests} ${order?.keyset ?? ''} ${order?.page('c') ?? ''}`;
  }

  private walk(
    type: string,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
    bounds: string,
  ): string {
    const where = [`c.type = ${this.bind.value(type)}`, ...this.tests(others, true)].join(' and ');
    return `select c.main_date, c.resource_key from resource c where ${where} ${bounds} ${order?.keyset ?? ''} ${order?.page('c') ?? ''}`;
  }

  /** Each alternative is read in index order up to the limit: an IN list over an ordered index would lose the order. */
  private perAlternative(
    source: string,
    table: string,
    equals: string,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
  ): string {
    const where = [equals, ...this.tests(others, false)].join(' and ');
    const rows = `c.main_date, c.resource_key from ${table} c where ${where}`;
    if (order === undefined)
      return `select a.main_date, a.resource_key from ${source} cross join lateral (select distinct ${rows}) a`;
    return `select distinct a.main_date, a.resource_key from ${source} cross join lateral (
select distinct ${rows} ${order.keyset} ${order.page('c')}) a ${order.page('a')}`;
  }

  /**
   * Nobody knows how many rows a clause without statistics has, so that is found out while the statement runs: a few are
   * gathered and sorted, else the order of an index is followed, where many matches are soon a page.
   */
  private fewOrInOrder(
    type: string,
    clauses: readonly SearchClause[],
    gathered: SearchClause,
    ordered: Driver | undefined,
    order: CandidateOrder,
  ): string {
    const keys = this.keys.of(type, gathered);
    const tests = this.gatheredTests(clauses, gathered, keys.hasDate);
    const many = this.inOrder(type, clauses, ordered, order);
    return `with few as materialized (select * from (${keys.sql} offset 0) k limit ${MOST_GATHERED + 1})
select distinct b.main_date, b.resource_key from (
(select distinct c.main_date, c.resource_key from ${rowsOf('few', keys.hasDate)} where (select count(*) from few) <= ${MOST_GATHERED}${tests}
${order.keyset} ${order.page('c')})
union all (select o.main_date, o.resource_key from (${many}) o where (select count(*) from few) > ${MOST_GATHERED})) b ${order.page('b')}`;
  }

  private gathered(type: string, clauses: readonly SearchClause[], driver: SearchClause): string {
    const { sql, hasDate } = this.keys.of(type, driver);
    return `select c.main_date, c.resource_key from ${rowsOf(`(${sql} offset 0)`, hasDate)}
where true${this.gatheredTests(clauses, driver, hasDate)}`;
  }

  private gatheredTests(clauses: readonly SearchClause[], gathered: SearchClause, hasDate: boolean): string {
    const others = clauses.filter((clause) => clause !== gathered || !CandidateKeys.areExact(clause));
    return this.tests(others, !hasDate)
      .map((test) => ` and ${test}`)
      .join('');
  }

  private tests(clauses: readonly SearchClause[], isResource: boolean): readonly string[] {
    return clauses.map((clause) => this.predicates.of(clause, { name: 'c', isResource }));
  }
}

/** Rows `c` of gathered keys; those without a date are looked up. */
const rowsOf = (keys: string, hasDate: boolean): string =>
  hasDate
    ? `${keys} c`
    : `${keys} k cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c`;

/** Whether an index yields the rows of the clause by main date. */
const isOrdered = ({ kind }: SearchClause): boolean => kind === 'token' || kind === 'reference' || kind === 'number';

const isMainDate = (clause: SearchClause): clause is DateClause => clause.kind === 'date' && clause.isMainDate;

/** Whether the clause drives by one alternative, or the whole type does. */
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

const followsToken = (clause: SearchClause): boolean =>
  (clause.kind === 'has' || clause.kind === 'chain') && clause.clause.kind === 'token';

const patientAmong = (clauses: readonly SearchClause[]): SearchClause | undefined =>
  clauses.find((clause) => clause.kind === 'reference' && clause.patientHash !== undefined);

function leastOf(
  clauses: readonly SearchClause[],
  estimate: (clause: SearchClause) => number | undefined,
): Driver | undefined {
  let best: Driver | undefined;
  for (const clause of clauses) {
    const rows = estimate(clause);
    if (rows !== undefined && (best === undefined || rows < best.estimate)) best = { clause, estimate: rows };
  }
  return best;
}

const flattened = (clause: SearchClause): readonly SearchClause[] =>
  clause.kind === 'all' ? clause.clauses.flatMap(flattened) : [clause];
