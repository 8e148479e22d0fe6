import { boundValueSets } from '../../fhir/definitions/definitions';
import { CodeSet } from '../r4/binding-check';
import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';
import { addTo } from '../../platform/lists-by-key';

/** The codes of an R4 value set; undefined unless R4 has required bindings to it. */
export function codesOfR4(url: string): CodeSet | undefined {
  const found = boundValueSets().find((set) => set.url === url);
  return found === undefined ? undefined : new CodeSet(url, new Map(Object.entries(found.codes)));
}

/**
 * The codes of a stored ValueSet. They are in its expansion, or in a definition that lists every code.
 * @returns undefined if neither lists the codes
 */
export function listedCodesOf(url: string, valueSet: unknown): CodeSet | undefined {
  if (!isObject(valueSet)) return undefined;
  const codes = isObject(valueSet.expansion) ? expanded(valueSet.expansion) : composed(valueSet.compose);
  return codes === undefined ? undefined : new CodeSet(url, codes);
}

/** The codes of each system. A caller stores the ValueSet, so a system may be any text. */
type Codes = Map<string, string[]>;

function expanded(expansion: PlainObject): Codes {
  const codes: Codes = new Map();
  const pending = [expansion.contains];
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    for (const { system, code, abstract, contains } of objectsIn(list)) {
      if (contains !== undefined) pending.push(contains);
      if (typeof system === 'string' && typeof code === 'string' && abstract !== true) addTo(codes, system, code);
    }
  }
  return codes;
}

function composed(compose: unknown): Codes | undefined {
  if (!isObject(compose) || !Array.isArray(compose.include) || compose.exclude !== undefined) return undefined;
  const codes: Codes = new Map();
  for (const { system, concept, filter, valueSet } of objectsIn(compose.include)) {
    const isListed =
      typeof system === 'string' && Array.isArray(concept) && filter === undefined && valueSet === undefined;
    if (!isListed) return undefined;
    for (const { code } of objectsIn(concept)) if (typeof code === 'string') addTo(codes, system, code);
  }
  return codes;
}
