import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { type FoundResource, foundResourceOf, type FoundRow } from '../compile/found-resource';
import { type Reach } from '../rows/reach';
import { type RowLimit } from '../rows/row-limit';
import { boundWithin, SOURCES, TARGETS } from './include-statements';
import { type Named, NamedResources } from './named-resources';
import { type Include } from './read-includes';

export interface Included {
  readonly resources: readonly FoundResource[];
  readonly isComplete: boolean;
  /** Types that the includes lead to but the caller may not search, whether or not resources of these types exist. */
  readonly hiddenTypes: readonly string[];
}

/** An include, restricted to the types and rows that the caller may see. */
interface ReachedInclude extends Include {
  /** Row filter; undefined if the caller may see all rows of the types. */
  readonly limit: RowLimit | undefined;
}

/**
 * Maximum number of resources that includes add to one page. If there are more, the answer says that it is incomplete.
 */
export const MAX_INCLUDED = 5_000;

const MOST_INCLUDED_BYTES = 16 * 1024 * 1024;

/** Maximum number of rounds of `:iterate` that follow the first round. */
const MAX_ROUNDS = 10;

/** Finds what `_include` and `_revinclude` add to a page (http://hl7.org/fhir/R4/search.html#revinclude). */
@Injectable()
export class IncludedResources {
  constructor(
    private readonly statements: Statements,
    private readonly named: NamedResources,
  ) {}

  /** @param reach rows that the caller may see; links of hidden resources are not followed either */
  async of(page: readonly FoundResource[], asked: readonly Include[], reach?: Reach): Promise<Included> {
    if (asked.length === 0) return { resources: [], isComplete: true, hiddenTypes: [] };
    const { includes, hiddenTypes } = await reachedIncludes(asked, reach);
    const seen = new Set(page.map(({ key }) => key));
    const resources: FoundResource[] = [];
    let front = page;
    let isComplete = true;
    let bytes = 0;
    for (let round = 0; front.length > 0 && round <= MAX_ROUNDS; round++) {
      const next: FoundResource[] = [];
      // The first round follows all includes. Later rounds follow those that iterate, from the round before.
      for (const include of includes.filter(({ isIterated }) => round === 0 || isIterated)) {
        const followed = await this.follow(front, include);
        isComplete &&= followed.isComplete;
        for (const found of followed.resources) {
          if (seen.has(found.key)) continue;
          bytes += found.bytes;
          if (resources.length >= MAX_INCLUDED || bytes > MOST_INCLUDED_BYTES)
            return { resources, isComplete: false, hiddenTypes };
          seen.add(found.key);
          resources.push(found);
          next.push(found);
        }
      }
      front = next;
    }
    return { resources, isComplete: isComplete && front.length === 0, hiddenTypes };
  }

  private async follow(front: readonly FoundResource[], include: ReachedInclude): Promise<Named> {
    const { isReverse, parameterIds, types, target, named, limit } = include;
    const from = target === undefined ? front : front.filter(({ type }) => type === target);
    const places = from.map(({ key, referenceHash }) => (isReverse ? referenceHash : key));
    const most = MAX_INCLUDED + from.length + 1;
    const { statement, values } = boundWithin(
      isReverse ? SOURCES : TARGETS,
      [places, parameterIds, types, most],
      limit,
    );
    const rows = await this.statements.run<FoundRow>(statement, values);
    const resources = rows.map(foundResourceOf);
    let isComplete = true;
    for (const path of named) {
      const more = isReverse
        ? await this.named.sourcesOf(from, path, { most, limit })
        : await this.named.targetsOf(from, path, { most, limit });
      resources.push(...more.resources);
      isComplete &&= more.isComplete;
    }
    return { resources, isComplete };
  }
}

/**
 * The includes without the types that the caller may not search. The result is the same as if no resource of those
 * types were stored.
 */
async function reachedIncludes(
  asked: readonly Include[],
  reach: Reach | undefined,
): Promise<{ readonly includes: readonly ReachedInclude[]; readonly hiddenTypes: readonly string[] }> {
  if (reach === undefined)
    return { includes: asked.map((include) => ({ ...include, limit: undefined })), hiddenTypes: [] };
  const includes: ReachedInclude[] = [];
  const allHidden = new Set<string>();
  for (const include of asked) {
    const { isReverse, types, named } = include;
    // A source may name any version of a canonical, so the other versions decide which resource it means. The row
    // filter must also cover their types.
    const compared = isReverse ? named.flatMap(({ targets }) => targets.map(({ type }) => type)) : [];
    const { hidden, limit } = await reach.ofTypes([...types, ...compared]);
    const hiddenTypes = types.filter((type) => hidden.includes(type));
    for (const type of hiddenTypes) allHidden.add(type);
    if (hiddenTypes.length < types.length) includes.push({ ...include, limit });
  }
  return { includes, hiddenTypes: [...allHidden].sort() };
}
