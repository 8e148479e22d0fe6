import { earliestInstant, latestInstant } from '../../../fhir/instant';
import { type DateBox, type DateClause, type NumberClause, type SearchClause } from '../search-query';
import { type Binder } from './binder';
import { estimateOf, type Frequencies } from './estimate';
import {
  dateFilter,
  numberFilter,
  Predicates,
  referenceAlternatives,
  stringFilter,
  tokenAlternatives,
} from './predicate';

/** The order in which candidates are wanted, with the place to begin at and the most of them; else all, in any order. */
export interface CandidateOrder {
  /** On alias `c`: `and (c.main_date, …) < (…)`, or nothing. */
  readonly keyset: string;
  /** `order by … limit …` on alias `c`. */
  readonly page: (alias: string) => string;
}

/** Above this a driver that must be gathered and sorted is dearer than walking the type in order. */
const DEAREST_GATHERING = 20_000;

/** A driver with fewer candidates is not worth a second look by date. */
const WORTH_BOUNDING = 2_000;

const DAY = 86_400_000;

/**
 * SQL that yields (main_date, resource_key) of every match, each once. One clause drives in the order of its index, the
 * others are probed (docs/architecture.md, "Search").
 */
export class Candidates {
  private readonly predicates: Predicates;

  constructor(
    private readonly bind: Binder,
    private readonly frequencies: Frequencies,
  ) {
    this.predicates = new Predicates(bind);
  }

  of(type: string, clauses: readonly SearchClause[], order?: CandidateOrder): string {
    const flat = clauses.flatMap(flattened);
    const driver = this.driverOf(flat);
    const others = flat.filter((clause) => clause !== driver);
    const bound = others.find((clause): clause is DateClause => clause.kind === 'date' && clause.isMainDate);
    const estimate = driver === undefined ? Infinity : (estimateOf(driver, this.frequencies) ?? Infinity);
    if (bound !== undefined && estimate > WORTH_BOUNDING) return this.boundedByDate(type, driver, others, bound, order);
    return this.driven(type, driver, others, order, '');
  }

  /** The best clause to drive; undefined when walking the whole type is cheaper, or the only way. */
  driverOf(clauses: readonly SearchClause[]): SearchClause | undefined {
    let best: { clause: SearchClause; estimate: number } | undefined;
    for (const clause of clauses) {
      const estimate = estimateOf(clause, this.frequencies);
      if (estimate === undefined || (estimate > DEAREST_GATHERING && !isOrdered(clause))) continue;
      if (best === undefined || estimate < best.estimate) best = { clause, estimate };
    }
    return best?.clause;
  }

  private driven(
    type: string,
    driver: SearchClause | undefined,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
    bounds: string,
  ): string {
    if (driver === undefined) return this.walk(type, others, order, bounds);
    switch (driver.kind) {
      case 'token': {
        const { source, equals } = tokenAlternatives(driver, this.bind);
        const { patient, rest } = this.patientOf(others);
        return this.perAlternative(source, 'search_token', `${equals('c')}${patient}`, rest, order, bounds);
      }
      case 'reference': {
        const { source, equals } = referenceAlternatives(driver, this.bind);
        return this.perAlternative(source, 'reference_link', equals('c'), others, order, bounds);
      }
      default:
        return this.gathered(type, driver, others, order, bounds);
    }
  }

  /** Token rows carry the patient: patient and code together are one range of an index. */
  private patientOf(clauses: readonly SearchClause[]): { patient: string; rest: readonly SearchClause[] } {
    const patient = clauses.find((clause) => clause.kind === 'reference' && clause.patientHash !== undefined);
    if (patient?.kind !== 'reference' || patient.patientHash === undefined) return { patient: '', rest: clauses };
    const hash = this.bind.value(patient.patientHash);
    return {
      patient: ` and c.patient_hash = ${hash}::bigint and c.patient_hash <> 0`,
      rest: clauses.filter((clause) => clause !== patient),
    };
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
    bounds: string,
  ): string {
    const where = [equals, ...this.tests(others, false)].join(' and ');
    return `select distinct a.main_date, a.resource_key from ${source} cross join lateral (
select distinct c.main_date, c.resource_key from ${table} c where ${where} ${bounds} ${order?.keyset ?? ''} ${order?.page('c') ?? ''}) a ${order?.page('a') ?? ''}`;
  }

  /** Drivers whose index has another order: all of their candidates are gathered first. */
  private gathered(
    type: string,
    driver: SearchClause,
    others: readonly SearchClause[],
    order: CandidateOrder | undefined,
    bounds: string,
  ): string {
    const where = [`c.type = ${this.bind.value(type)}`, ...this.tests(others, true)].join(' and ');
    return `select distinct c.main_date, c.resource_key from (${this.keysOf(type, driver)} offset 0) k
cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c where ${where} ${bounds} ${order?.keyset ?? ''} ${order?.page('c') ?? ''}`;
  }

  /** `select resource_key` of all that the clause holds for, perhaps more than once. */
  private keysOf(type: string, clause: SearchClause): string {
    switch (clause.kind) {
      case 'id':
        return `select i.resource_key from resource i where i.type = ${this.bind.value(type)} and i.id = any(${this.bind.value(clause.ids)}::text[])`;
      case 'string':
        return `select s.resource_key from search_string s
where s.parameter_id = any(${this.bind.value(clause.parameterIds)}::integer[]) and ${stringFilter('s', clause, this.bind)}`;
      case 'number':
        return this.numberKeys(clause);
      case 'date':
        return this.dateKeys(clause);
      case 'list':
        return `select m.resource_key from resource l
cross join lateral (select k.target_hash from reference_link k where k.resource_key = l.resource_key and k.parameter_id = ${this.bind.value(clause.parameterId)}::integer offset 0) k
cross join lateral (select m.resource_key from resource m where m.reference_hash = k.target_hash and m.type = ${this.bind.value(type)} limit 1) m
where l.reference_hash = ${this.bind.value(clause.listHash)}::bigint and l.type = 'List'`;
      case 'chain':
        return `select l.resource_key from (${this.of(clause.type, [clause.clause])} offset 0) t
cross join lateral (select r.reference_hash from resource r where r.resource_key = t.resource_key limit 1) x
cross join unnest(${this.bind.value(clause.parameterIds)}::integer[]) z(parameter_id)
cross join lateral (select l.resource_key from reference_link l where l.target_hash = x.reference_hash and l.parameter_id = z.parameter_id offset 0) l`;
      case 'has':
        return `select m.resource_key from (${this.of(clause.type, [clause.clause])} offset 0) s
cross join lateral (select distinct l.target_hash from reference_link l
where l.resource_key = s.resource_key and l.parameter_id = any(${this.bind.value(clause.parameterIds)}::integer[]) offset 0) l
cross join lateral (select m.resource_key from resource m where m.reference_hash = l.target_hash and m.type = ${this.bind.value(type)} limit 1) m`;
      case 'any':
        return clause.clauses
          .map((one) => `(select resource_key from (${this.keysOf(type, one)}) u)`)
          .join(' union all ');
      default:
        return `select u.resource_key from (${this.of(type, [clause])}) u`;
    }
  }

  private numberKeys({ parameterIds, codeHash, ranges }: NumberClause): string {
    const ids = this.bind.value(parameterIds);
    const isPaired = codeHash !== 0;
    const code = isPaired ? `n.code_hash = ${this.bind.value(codeHash)}::bigint` : 'n.code_hash = 0';
    return `select n.resource_key from search_number n where n.parameter_id = any(${ids}::integer[]) and ${code} and ${numberFilter('n', ranges, this.bind)}`;
  }

  private dateKeys({ parameterIds, boxes }: DateClause): string {
    const ids = this.bind.value(parameterIds);
    const { from, to } = reachOf(boxes);
    const limits = [
      ...(from === undefined ? [] : [`d.low >= ${this.instant(from - DAY)}`]),
      ...(to === undefined ? [] : [`d.low <= ${this.instant(to)}`]),
    ].map((limit) => ` and ${limit}`);
    return `select d.resource_key from search_date d where d.parameter_id = any(${ids}::integer[])${limits.join('')} and ${dateFilter('d', boxes, this.bind)}
union all ${this.longKeys(ids, boxes, dateFilter('g', boxes, this.bind))}`;
  }

  /** Rows of more than a day have an index of their own: they may begin long before the time that is asked for. */
  private longKeys(ids: string, boxes: readonly DateBox[], filter: string): string {
    const { from, to } = reachOf(boxes);
    const range = `tstzrange(${from === undefined ? `'-infinity'` : this.instant(from)}, ${to === undefined ? `'infinity'` : this.instant(to)}, '[]')`;
    return `select g.resource_key from unnest(${ids}::integer[]) y(parameter_id) cross join lateral (
select g.resource_key from search_date g where g.parameter_id = y.parameter_id and g.high - g.low > interval '1 day'
and tstzrange(g.low, g.high, '[]') && ${range}
and ${filter} offset 0) g`;
  }

  /**
   * A search by the main date walks only the part of the index that can match. What lasts for more than a day is looked
   * up apart.
   */
  private boundedByDate(
    type: string,
    driver: SearchClause | undefined,
    others: readonly SearchClause[],
    bound: DateClause,
    order: CandidateOrder | undefined,
  ): string {
    const { from, to } = reachOf(bound.boxes);
    const bounds = [
      ...(from === undefined ? [] : [`and c.main_date >= ${this.instant(from - DAY)}`]),
      ...(to === undefined ? [] : [`and c.main_date <= ${this.instant(to)}`]),
    ].join(' ');
    const short = this.driven(type, driver, others, order, bounds);
    const tests = [
      `c.type = ${this.bind.value(type)}`,
      ...this.tests(driver === undefined ? others : [driver, ...others], true),
    ];
    const long = `select c.main_date, c.resource_key from (${this.longKeys(this.bind.value(bound.parameterIds), bound.boxes, dateFilter('g', bound.boxes, this.bind))} offset 0) k
cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c where ${tests.join(' and ')} ${order?.keyset ?? ''} ${order?.page('c') ?? ''}`;
    return `select distinct b.main_date, b.resource_key from ((${short}) union all (${long})) b ${order?.page('b') ?? ''}`;
  }

  private tests(clauses: readonly SearchClause[], isResource: boolean): readonly string[] {
    return clauses.map((clause) => this.predicates.of(clause, { name: 'c', isResource }));
  }

  private instant(at: number): string {
    return `${this.bind.value(new Date(Math.min(Math.max(at, earliestInstant), latestInstant)))}::timestamptz`;
  }
}

/** Whether the driver's index yields its candidates by main date. */
const isOrdered = ({ kind }: SearchClause): boolean => kind === 'token' || kind === 'reference';

const flattened = (clause: SearchClause): readonly SearchClause[] =>
  clause.kind === 'all' ? clause.clauses.flatMap(flattened) : [clause];

/** From when to when a row of at most a day's length can lie that fits one of the boxes. */
function reachOf(boxes: readonly DateBox[]): { readonly from: number | undefined; readonly to: number | undefined } {
  const froms = boxes.map(({ lowFrom, highFrom }) => lowFrom ?? highFrom);
  const tos = boxes.map(({ lowTo, highTo }) => lowTo ?? highTo);
  return {
    from: froms.includes(undefined) ? undefined : Math.min(...froms.map((from) => from ?? 0)),
    to: tos.includes(undefined) ? undefined : Math.max(...tos.map((to) => to ?? 0)),
  };
}
