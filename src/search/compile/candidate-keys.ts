import { type NearClause, type NumberClause, type SearchClause } from '../query/search-query';
import { parameterAlternatives, patientsOf, rowsOfEach } from './alternatives';
import { type Binder } from '../../store/binder';
import { allDates } from './date-walk';
import { instantFilter } from './date-filter';
import { leadsToRange } from './drivers';
import { stepOf } from './filters';
import { followsLinks, type LinkClause, referrersOf, resourcesWith, targetHashesOf } from './followed-links';
import { disjoint, FEW } from './many';
import { isLatitude, longitudeOf, metersTo, placesSource } from './near';
import { dividedAlternatives } from './paired-rows';
import { stringRows } from './string-rows';

/**
 * Compiles the SQL that reads the keys of all matches of a clause, when no index holds them by main date. A key is the
 * main date (the clinical date, else the time of creation) and the resource key.
 */
export class CandidateKeys {
  constructor(
    private readonly bind: Binder,
    /** SQL of (main_date, resource_key) of all resources of a type that match a clause. */
    private readonly candidatesOf: (type: string, clause: SearchClause) => string,
  ) {}

  /**
   * Whether the keys are exactly those of the matches. Otherwise some keys are of resources that do not match, so the
   * clause must still be tested.
   */
  static areExact(clause: SearchClause): boolean {
    switch (clause.kind) {
      case 'any':
        return clause.clauses.every((one) => CandidateKeys.areExact(one));
      case 'number':
        return clause.ranges.every(({ unitHash }) => unitHash === undefined);
      default:
        return !leadsToRange(clause) || CandidateKeys.areExact(clause.clause);
    }
  }

  /**
   * SQL that selects `main_date, resource_key` of all resources that may match a clause. The rows are unordered, and
   * may repeat.
   */
  of(type: string, clause: SearchClause): string {
    switch (clause.kind) {
      case 'id':
        return `select i.main_date, i.resource_key from resource i where i.type = ${this.bind.value(type)} and i.id = any(${this.bind.value(clause.ids)}::text[])`;
      case 'updated':
        // The order makes the planner read the index by time, which it would not do for a range of unknown length.
        return `select i.main_date, i.resource_key from resource i where i.type = ${this.bind.value(type)} and ${instantFilter('i.updated_at', clause.boxes, this.bind)} order by i.updated_at desc`;
      case 'string':
        return stringRows(clause, this.bind);
      case 'number':
        return this.numbers(clause);
      case 'near':
        return this.near(clause);
      case 'date':
        return allDates(clause, this.bind);
      case 'chain':
        return this.linked(type, clause, this.eachOnce(clause));
      case 'has':
        // Token rows already hold the patient of their resource.
        return clause.isByPatient && clause.clause.kind === 'token'
          ? resourcesWith(patientsOf(clause.clause, this.bind), type, this.bind)
          : this.linked(type, clause, this.eachOnce(clause));
      case 'any':
        return this.any(type, clause.clauses);
      default:
        return this.candidatesOf(type, clause);
    }
  }

  /** SQL of the keys of the resources that a link connects with those of `reached`, SQL of keys. */
  linked(type: string, { kind, parameterIds }: LinkClause, reached: string): string {
    return kind === 'chain'
      ? referrersOf(reached, parameterIds, this.bind)
      : resourcesWith(targetHashesOf(reached, parameterIds, this.bind), type, this.bind);
  }

  /**
   * SQL of the keys of the resources from which a link starts. If these resources were found through links too, several
   * paths may lead to the same resource. Its key is then listed once, so that the cost does not grow with the paths.
   */
  private eachOnce({ type, clause }: { readonly type: string; readonly clause: SearchClause }): string {
    const candidates = this.candidatesOf(type, clause);
    return followsLinks(clause) ? `select distinct o.main_date, o.resource_key from (${candidates}) o` : candidates;
  }

  private any(type: string, clauses: readonly SearchClause[]): string {
    if (clauses.length === 0) return 'select n.main_date, n.resource_key from resource n where false';
    const { count, pairs, others } = dividedAlternatives(clauses);
    const keys =
      count > FEW
        ? [pairs(this.bind), ...others.map((one) => this.of(type, one))]
        : clauses.map((one) => this.of(type, one));
    return keys.map((one) => `(select u.main_date, u.resource_key from (${one}) u)`).join(' union all ');
  }

  /**
   * Reads the numbers in the searched ranges from the index by value, whatever their unit. The unit is tested later.
   * Walking the index by date instead would read many rows for few matches if the unit is rare.
   */
  private numbers({ parameterIds, codeHash, ranges }: NumberClause): string {
    const steps = disjoint(ranges.map(stepOf));
    const [lows, highs] = [steps.map(([low]) => low), steps.map(([, high]) => high)].map(
      (ends) => `${this.bind.value(ends)}::double precision[]`,
    );
    const rows = rowsOfEach(
      parameterAlternatives(parameterIds, this.bind),
      'search_number',
      'n',
      ['main_date', 'resource_key'],
      ` and n.code_hash = ${this.bind.value(codeHash)}::bigint and n.value >= y.low and n.value <= y.high`,
    );
    return `select n.main_date, n.resource_key from unnest(${lows}, ${highs}) y(low, high) cross join lateral (${rows} offset 0) n`;
  }

  /** Finds positions near a place: reads a band of latitudes, and measures the distance of each position in it. */
  private near({ parameterId, places }: NearClause): string {
    const id = `${this.bind.value(parameterId)}::integer`;
    return `select n.main_date, n.resource_key from ${placesSource(places, this.bind)} cross join lateral (
select n.main_date, n.resource_key, n.value from search_number n where ${isLatitude('n', id)} and n.value >= y.south and n.value <= y.north offset 0) n
cross join ${longitudeOf('n', id)} where ${metersTo('n')} <= y.meters`;
  }
}
