import { type RowLimit } from '../resource/rows/row-limit';
import { Binder, type CompiledSearch } from '../resource/search/compile/binder';
import { type Statement } from '../platform/database/statement';

/**
 * The patient and all that links to it by a parameter of the compartment, each once, as entries of one answer.
 * One statement, hence one snapshot. The patient comes first, then type by type, the newest first.
 */
const everythingIf = (test: string): string => `with member as (
      select distinct resource_key from reference_link where target_hash = $1 and parameter_id = any($2)
      union select resource_key from resource where type = 'Patient' and id = $3
    )
    select c.type, c.id, c.body
    from member m cross join lateral (select * from resource r where r.resource_key = m.resource_key limit 1) c
    where ($4::timestamptz is null or c.updated_at > $4)${test}
    order by (c.type = 'Patient' and c.id = $3) desc, c.type, c.updated_at desc, c.id`;

export const PATIENT_EVERYTHING: Statement = { name: 'patient-everything', text: everythingIf('') };

/** The same as far as the caller may see it; the values of the other statement come first. */
export function everythingWithin(limit: RowLimit, values: readonly unknown[]): CompiledSearch {
  const bind = new Binder();
  for (const value of values) bind.value(value);
  return bind.finish(everythingIf(` and ${limit.test(limit.types, bind)}`));
}
