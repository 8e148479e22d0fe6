import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { type Resource } from '../../fhir/types';
import { unusableValueSet, valueSetNotStored } from '../query/value-set-refusals';
import { parameterIdOf } from '../../search-index/extract/hash';
import { RowHashes } from '../../search-index/extract/row-hashes';
import { MAX_ALTERNATIVES } from '../parse/values';
import { isObject } from '../../platform/json/plain-object';

/** Reads the ValueSets with a url, given by its token hash. A url has few versions. */
const READ_BY_URL: Statement = {
  name: 'search-value-sets',
  text: `select r.body from search_token t
    cross join lateral (select b.body from resource b where b.resource_key = t.resource_key limit 1) r
    where t.token_hash = $1 order by t.main_date desc, t.resource_key desc limit 50`,
};

const READ_BY_ID: Statement = {
  name: 'search-value-set',
  text: `select body from resource where type = 'ValueSet' and id = $1`,
};

export interface ValueSetCode {
  readonly system: string;
  readonly code: string;
}

/** The codes of stored ValueSets: those of the expansion, else the listed concepts. */
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
    const byUrl = await this.read(READ_BY_URL, this.hashes.ofToken(parameterIdOf('ValueSet', 'url'), url));
    const stored = byUrl.length > 0 || id === undefined ? byUrl : await this.read(READ_BY_ID, id);
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

  private async read(statement: Statement, value: number | string): Promise<readonly Resource[]> {
    const rows = await this.statements.run<{ body: string }>(statement, [value]);
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

/** The recursion is bounded, since the scan of bodies bounds their depth. */
function containedCodes(contains: unknown): readonly ValueSetCode[] {
  if (!Array.isArray(contains)) return [];
  return (contains as unknown[]).filter(isObject).flatMap(({ system, code, abstract, contains: inner }) => {
    const own =
      typeof code === 'string' && abstract !== true ? [{ system: typeof system === 'string' ? system : '', code }] : [];
    return [...own, ...containedCodes(inner)];
  });
}
