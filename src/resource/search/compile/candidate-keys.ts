import { type DateClause, type NearClause, type NumberClause, type SearchClause } from '../search-query';
import { type Binder } from './binder';
import { reachOf } from './date-bounds';
import { dateFilter, instantPlace } from './date-filter';
import { isLatitude, longitudeOf, metersTo, placesSource } from './near';
import { stringFilter, tokenAlternatives } from './predicate';

/** SQL of all resources that a clause holds for, in no order and perhaps more than once. */
export interface Keys {
  /** `select [main_date,] resource_key …` */
  readonly sql: string;
  readonly hasDate: boolean;
}

const DAY = 86_400_000;

/** Reads the rows of a clause whose index has another order than the main date. */
export class CandidateKeys {
  constructor(
    private readonly bind: Binder,
    /** SQL of (main_date, resource_key) of all resources of a type that a clause holds for. */
    private readonly candidatesOf: (type: string, clause: SearchClause) => string,
  ) {}

  /** False where the keys are only those that the clause may hold for. */
  static areExact(clause: SearchClause): boolean {
    return clause.kind === 'any'
      ? clause.clauses.every((one) => CandidateKeys.areExact(one))
      : clause.kind !== 'number' || clause.ranges.every(({ unitHash }) => unitHash === undefined);
  }

  of(type: string, clause: SearchClause): Keys {
    switch (clause.kind) {
      case 'id':
        return dated(
          `select i.main_date, i.resource_key from resource i where i.type = ${this.bind.value(type)} and i.id = any(${this.bind.value(clause.ids)}::text[])`,
        );
      case 'string':
        return undated(`select s.resource_key from search_string s
where s.parameter_id = any(${this.bind.value(clause.parameterIds)}::integer[]) and ${stringFilter('s', clause, this.bind)}`);
      case 'number':
        return dated(this.numbers(clause));
      case 'near':
        return dated(this.near(clause));
      case 'date':
        return undated(this.dates(clause));
      case 'list':
        return dated(`select m.main_date, m.resource_key from resource l
cross join lateral (select k.target_hash from reference_link k where k.resource_key = l.resource_key and k.parameter_id = ${this.bind.value(clause.parameterId)}::integer offset 0) k
cross join lateral (select m.main_date, m.resource_key from resource m where m.reference_hash = k.target_hash and m.type = ${this.bind.value(type)} limit 1) m
where l.reference_hash = ${this.bind.value(clause.listHash)}::bigint and l.type = 'List'`);
      case 'chain':
        return dated(`select l.main_date, l.resource_key from (${this.candidatesOf(clause.type, clause.clause)} offset 0) t
cross join lateral (select r.reference_hash from resource r where r.resource_key = t.resource_key limit 1) x
cross join unnest(${this.bind.value(clause.parameterIds)}::integer[]) z(parameter_id)
cross join lateral (select l.main_date, l.resource_key from reference_link l where l.target_hash = x.reference_hash and l.parameter_id = z.parameter_id offset 0) l`);
      case 'has':
        return dated(`select m.main_date, m.resource_key from (${this.targets(clause)} offset 0) h
cross join lateral (select m.main_date, m.resource_key from resource m where m.reference_hash = h.target_hash and m.type = ${this.bind.value(type)} limit 1) m`);
      case 'any':
        return this.any(type, clause.clauses);
      default:
        return dated(this.candidatesOf(type, clause));
    }
  }

  /** `select low, high, resource_key`: rows of more than a day have an index of their own. */
  longDates({ parameterIds, boxes }: DateClause): string {
    const { from, to } = reachOf(boxes);
    const low = from === undefined ? `'-infinity'` : instantPlace(from, this.bind);
    const high = to === undefined ? `'infinity'` : instantPlace(to, this.bind);
    return `select g.low, g.high, g.resource_key from unnest(${this.bind.value(parameterIds)}::integer[]) y(parameter_id) cross join lateral (
select g.low, g.high, g.resource_key from search_date g where g.parameter_id = y.parameter_id and g.high - g.low > interval '1 day'
and tstzrange(g.low, g.high, '[]') && tstzrange(${low}, ${high}, '[]') and ${dateFilter('g', boxes, this.bind)} offset 0) g`;
  }

  private any(type: string, clauses: readonly SearchClause[]): Keys {
    if (clauses.length === 0) return dated('select n.main_date, n.resource_key from resource n where false');
    const all = clauses.map((one) => this.of(type, one));
    const hasDate = all.every((keys) => keys.hasDate);
    const columns = hasDate ? 'u.main_date, u.resource_key' : 'u.resource_key';
    return { sql: all.map(({ sql }) => `(select ${columns} from (${sql}) u)`).join(' union all '), hasDate };
  }

  /** By value, of whatever unit: a unit is no part of the index, and the candidates are few enough to be asked for it. */
  private numbers({ parameterIds, codeHash, ranges }: NumberClause): string {
    const columns = [
      `${this.bind.value(ranges.map(({ low }) => low))}::double precision[]`,
      `${this.bind.value(ranges.map(({ high }) => high))}::double precision[]`,
      `${this.bind.value(ranges.map(({ isLowOpen }) => isLowOpen))}::boolean[]`,
      `${this.bind.value(ranges.map(({ isHighOpen }) => isHighOpen))}::boolean[]`,
    ].join(', ');
    return `select n.main_date, n.resource_key from unnest(${this.bind.value(parameterIds)}::integer[]) z(parameter_id)
cross join unnest(${columns}) y(low, high, is_low_open, is_high_open) cross join lateral (
select n.main_date, n.resource_key from search_number n where n.parameter_id = z.parameter_id
and ${codeHash === 0 ? 'n.code_hash = 0' : `n.code_hash = ${this.bind.value(codeHash)}::bigint`} and n.value >= y.low and n.value <= y.high
and (n.value > y.low or not y.is_low_open) and (n.value < y.high or not y.is_high_open) offset 0) n`;
  }

  /** A band of latitudes, in which each one is measured. */
  private near({ parameterId, places }: NearClause): string {
    const id = `${this.bind.value(parameterId)}::integer`;
    return `select n.main_date, n.resource_key from ${placesSource(places, this.bind)} cross join lateral (
select n.main_date, n.resource_key, n.value from search_number n where ${isLatitude('n', id)} and n.value >= y.south and n.value <= y.north offset 0) n
cross join ${longitudeOf('n', id)} where ${metersTo('n')} <= y.meters`;
  }

  private dates(clause: DateClause): string {
    const ids = this.bind.value(clause.parameterIds);
    const { from, to } = reachOf(clause.boxes);
    const limits = [
      ...(from === undefined ? [] : [`and d.low >= ${instantPlace(from - DAY, this.bind)}`]),
      ...(to === undefined ? [] : [`and d.low <= ${instantPlace(to, this.bind)}`]),
    ].join(' ');
    return `select d.resource_key from unnest(${ids}::integer[]) z(parameter_id) cross join lateral (
select d.resource_key from search_date d where d.parameter_id = z.parameter_id ${limits} and ${dateFilter('d', clause.boxes, this.bind)} offset 0) d
union all select g.resource_key from (${this.longDates(clause)}) g`;
  }

  /** `select target_hash` of what the matching sources point at; token rows carry the patient that theirs does. */
  private targets({ parameterIds, type, clause, isByPatient }: SearchClause & { kind: 'has' }): string {
    if (isByPatient && clause.kind === 'token') {
      const { source, equals } = tokenAlternatives(clause, this.bind);
      return `select p.patient_hash as target_hash from ${source} cross join lateral (
select p.patient_hash from search_token p where ${equals('p')} and p.patient_hash <> 0 offset 0) p`;
    }
    return `select l.target_hash from (${this.candidatesOf(type, clause)} offset 0) s
cross join lateral (select l.target_hash from reference_link l
where l.resource_key = s.resource_key and l.parameter_id = any(${this.bind.value(parameterIds)}::integer[]) offset 0) l`;
  }
}

const dated = (sql: string): Keys => ({ sql, hasDate: true });
const undated = (sql: string): Keys => ({ sql, hasDate: false });
