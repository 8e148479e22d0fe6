import { type Statement } from '../platform/database/statement';

/**
 * The patient and all that links to it by a parameter of the compartment, each once, as entries of one answer.
 * One statement, hence one snapshot. The patient comes first, then type by type, the newest first.
 */
export const PATIENT_EVERYTHING: Statement = {
  name: 'patient-everything',
  text: `with member as (
      select distinct resource_key from reference_link where target_hash = $1 and parameter_id = any($2)
      union select resource_key from resource where type = 'Patient' and id = $3
    )
    select r.type, r.id, r.body
    from member m cross join lateral (select * from resource c where c.resource_key = m.resource_key limit 1) r
    where $4::timestamptz is null or r.updated_at > $4
    order by (r.type = 'Patient' and r.id = $3) desc, r.type, r.updated_at desc, r.id`,
};
