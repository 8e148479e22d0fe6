import { type Binder } from '../../store/binder';
import { type CompartmentQuery } from './compartment-query';
import { readableTest } from './entry-tests';

/** One resource of an answer, without its text. */
export interface EntryHead {
  readonly type: string;
  readonly id: string;
  /** Comma-separated ids of the parameters that link the resource to the patient; 0 for the patient itself. */
  readonly parameters: string;
}

export interface Entry extends EntryHead {
  readonly text: string;
}

/** The parameter id that marks the patient itself, which belongs to its compartment without a link. */
export const ITSELF = 0;

/**
 * SQL that reads the resources of `links` that pass a test. In `columns` and `test`, the resource has the alias `c`.
 * @param links SQL that yields `resource_key` and `parameters`, one row for each resource
 */
export const rowsBehind = (links: string, columns: string, test: string): string =>
  `select ${columns}, m.parameters from (${links}) m
    cross join lateral (select * from resource r where r.resource_key = m.resource_key limit 1) c
    where ${test}`;

/** SQL that yields `resource_key` and `parameter_id` of the links to the patient by some parameters. */
export const linksTo = ({ patientHash }: CompartmentQuery, ids: readonly number[], bind: Binder): string =>
  `select l.resource_key, l.parameter_id from reference_link l
    where l.target_hash = ${bind.value(patientHash)}::bigint and l.parameter_id = any(${bind.value(ids)}::integer[])`;

/**
 * SQL that yields the patient itself as if it were a link. It yields no row if the patient is not stored or the caller
 * may not read it.
 */
export const patientLink = ({ patientId, limit }: CompartmentQuery, bind: Binder): string =>
  `select c.resource_key, ${ITSELF} as parameter_id from resource c
    where c.type = 'Patient' and c.id = ${bind.value(patientId)} and ${readableTest(limit, 'Patient', bind)}`;

/** SQL that aggregates links to one row for each resource, since several parameters may link the same resource. */
export const gathered = (links: string): string =>
  `select k.resource_key, string_agg(k.parameter_id::text, ',') as parameters from (${links}) k group by k.resource_key`;
