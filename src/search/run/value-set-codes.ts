import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { type Resource } from '../../fhir/types';
import { unusableValueSet, valueSetNotStored } from '../query/value-set-refusals';
import { compilePage } from '../compile/compile-search';
import { parameterIdOf } from '../../search-index/extract/hash';
import { RowHashes } from '../../search-index/extract/row-hashes';
import { MAX_ALTERNATIVES } from '../parse/values';
import { isObject } from '../../platform/json/plain-object';

export interface ValueSetCode {
  readonly system: string;
  readonly code: string;
}

/**
 * The codes of stored ValueSets: those of the expansion, or without an expansion the concepts that the ValueSet lists.
 */
@Injectable()
export class ValueSetCodes {
  constructor(
    private readonly statements: Statements,
    private readonly hashes: RowHashes,
  ) {}

  /**
   * The codes of the ValueSet that a canonical names.
   * @throws ServiceError 'invalid' if the ValueSet is not stored, or its codes cannot be determined
   */
  async of(canonical: string): Promise<readonly ValueSetCode[]> {
    const [url = '', version] = canonical.split('|');
    const id = /^(?:.*\/)?ValueSet\/([A-Za-z0-9.-]{1,64})$/.exec(url)?.[1];
    const byUrl = await this.find({
      kind: 'token',
      tokens: [{ hash: this.hashes.ofToken(parameterIdOf('ValueSet', 'url'), url) }],
    });
    const stored = byUrl.length > 0 || id === undefined ? byUrl : await this.find({ kind: 'id', ids: [id] });
    const found = stored.find((set) => version === undefined || set.version === version);
    if (found === undefined) throw valueSetNotStored(canonical);
    const codes = codesOf(found);
    if (codes === undefined)
      throw unusableValueSet(canonical, 'has neither an expansion nor a plain list of codes; store its expansion');
    if (codes.length > MAX_ALTERNATIVES)
      throw unusableValueSet(
        canonical,
        `has more than ${MAX_ALTERNATIVES} codes, which are alternatives as values with commas are`,
      );
    return codes;
  }

  private async find(clause: Parameters<typeof compilePage>[0]['clauses'][number]): Promise<readonly Resource[]> {
    const { statement, values } = compilePage({ type: 'ValueSet', clauses: [clause], count: 50 });
    const rows = await this.statements.run<{ body: string }>(statement, values);
    return rows.map(({ body }) => JSON.parse(body) as Resource);
  }
}

function codesOf({ expansion, compose }: Resource): readonly ValueSetCode[] | undefined {
  if (isObject(expansion)) return containedCodes(expansion.contains);
  if (!isObject(compose) || compose.exclude !== undefined || !Array.isArray(compose.include)) return undefined;
  const codes: ValueSetCode[] = [];
  for (const include of compose.include as unknown[]) {
    if (!isObject(include) || !Array.isArray(include.concept) || include.filter !== undefined) return undefined;
    if (include.valueSet !== undefined || typeof include.system !== 'string') return undefined;
    for (const concept of include.concept as unknown[])
      if (isObject(concept) && typeof concept.code === 'string')
        codes.push({ system: include.system, code: concept.code });
  }
  return codes;
}

/** Collects the codes of an expansion. The recursion is bounded, since the scan of bodies bounds their depth. */
function containedCodes(contains: unknown): readonly ValueSetCode[] {
  if (!Array.isArray(contains)) return [];
  return (contains as unknown[]).filter(isObject).flatMap(({ system, code, abstract, contains: inner }) => {
    const own =
      typeof code === 'string' && abstract !== true ? [{ system: typeof system === 'string' ? system : '', code }] : [];
    return [...own, ...containedCodes(inner)];
  });
}
