import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { type RowLimit } from '../rows/row-limit';
import { type ResourceText } from '../stored-resource';
import { Binder, type CompiledSearch } from './compile/binder';
import { type Include } from './parse/include';

/** A resource of a page or included into it, with what its links are found by. */
export interface FoundResource extends ResourceText {
  readonly key: number;
  readonly referenceHash: number;
}

export interface Included {
  readonly resources: readonly FoundResource[];
  /** False when there is more than an answer holds. */
  readonly isComplete: boolean;
}

/** The most resources that includes add to one page: beyond it the answer says that it is not whole. */
export const MAX_INCLUDED = 5_000;

/** How often `:iterate` goes on from what it found. */
const MAX_ROUNDS = 10;

/** A row of a statement that reads resources. */
export interface ResourceRow {
  readonly resource_key: number;
  readonly type: string;
  readonly id: string;
  readonly reference_hash: number;
  readonly body: string;
}

/** The bodies of what is in `source`: some rows more than an answer holds tell that there is more. */
const bodiesOf = (source: string): string =>
  `select t.resource_key, t.type, t.id, t.reference_hash, t.body from (select distinct resource_key from ${source} order by 1 limit $4) f
  cross join lateral (select * from resource r where r.resource_key = f.resource_key limit 1) t order by t.type, t.resource_key desc`;

const BODIES = bodiesOf('found');

const FOUND_TARGETS = `with found as (select t.resource_key from unnest($1::bigint[]) k(resource_key)
    cross join lateral (select l.target_hash from reference_link l where l.resource_key = k.resource_key and l.parameter_id = any($2::integer[]) offset 0) l
    cross join lateral (select r.resource_key from resource r
      where r.reference_hash = l.target_hash and ($3::text[] is null or r.type = any($3::text[])) limit 1) t)`;

const FOUND_SOURCES = `with found as (select l.resource_key from unnest($1::bigint[]) k(reference_hash)
    cross join unnest($2::integer[]) z(parameter_id)
    cross join lateral (select l.resource_key from reference_link l
      where l.target_hash = k.reference_hash and l.parameter_id = z.parameter_id and $3::text[] is not null offset 0) l)`;

const TARGETS: Statement = { name: 'search-include', text: `${FOUND_TARGETS}\n  ${BODIES}` };
const SOURCES: Statement = { name: 'search-revinclude', text: `${FOUND_SOURCES}\n  ${BODIES}` };

/** Finds what `_include` and `_revinclude` add to a page (http://hl7.org/fhir/R4/search.html#revinclude). */
@Injectable()
export class IncludedResources {
  constructor(private readonly statements: Statements) {}

  /** @param limit what the caller may see: what goes beyond it leads nowhere either */
  async of(page: readonly FoundResource[], includes: readonly Include[], limit?: RowLimit): Promise<Included> {
    const seen = new Set(page.map(({ key }) => key));
    const resources: FoundResource[] = [];
    let front = page;
    for (let round = 0; front.length > 0 && round <= MAX_ROUNDS; round++) {
      const next: FoundResource[] = [];
      // The first round follows all, the others what iterates: from everything that the round before has found.
      for (const include of includes.filter(({ isIterated }) => round === 0 || isIterated)) {
        for (const found of await this.follow(front, include, limit)) {
          if (seen.has(found.key)) continue;
          if (resources.length >= MAX_INCLUDED) return { resources, isComplete: false };
          seen.add(found.key);
          resources.push(found);
          next.push(found);
        }
      }
      front = next;
    }
    return { resources, isComplete: front.length === 0 };
  }

  private async follow(
    from: readonly FoundResource[],
    include: Include,
    limit: RowLimit | undefined,
  ): Promise<readonly FoundResource[]> {
    const { isReverse, parameterIds, types } = include;
    const places = from.map(({ key, referenceHash }) => (isReverse ? referenceHash : key));
    const values = [places, parameterIds, types ?? null, MAX_INCLUDED + from.length + 1];
    const compiled =
      limit === undefined
        ? { statement: isReverse ? SOURCES : TARGETS, values }
        : withinLimit(isReverse ? FOUND_SOURCES : FOUND_TARGETS, values, limit);
    const rows = await this.statements.run<ResourceRow & Record<string, unknown>>(compiled.statement, compiled.values);
    return rows.map(foundResourceOf);
  }
}

/** The test comes before the bound, so that nobody can tell how much is left out. */
function withinLimit(found: string, values: readonly unknown[], limit: RowLimit): CompiledSearch {
  const bind = new Binder();
  for (const value of values) bind.value(value);
  return bind.finish(`${found}, visible as (select c.resource_key from (select distinct resource_key from found) f
  cross join lateral (select * from resource r where r.resource_key = f.resource_key limit 1) c where ${limit.test(limit.types, bind)})
  ${bodiesOf('visible')}`);
}

export const foundResourceOf = (row: ResourceRow): FoundResource => ({
  type: row.type,
  id: row.id,
  text: row.body,
  key: row.resource_key,
  referenceHash: row.reference_hash,
});
