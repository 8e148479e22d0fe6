import { boundValueSets } from '../../fhir/definitions/definitions';
import { CodeSet } from '../r4/binding-check';
import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';

/** The codes of an R4 value set; undefined unless R4 has required bindings to it. */
export function codesOfR4(url: string): CodeSet | undefined {
  const found = boundValueSets().find((set) => set.url === url);
  return found === undefined ? undefined : new CodeSet(url, found.codes);
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

type Codes = Record<string, string[]>;

function expanded(expansion: PlainObject): Codes {
  const codes: Codes = {};
  const pending = [expansion.contains];
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    for (const { system, code, abstract, contains } of objectsIn(list)) {
      if (contains !== undefined) pending.push(contains);
      if (typeof system === 'string' && typeof code === 'string' && abstract !== true)
        (codes[system] ??= []).push(code);
    }
  }
  return codes;
}

function composed(compose: unknown): Codes | undefined {
  if (!isObject(compose) || !Array.isArray(compose.include) || compose.exclude !== undefined) return undefined;
  const codes: Codes = {};
  for (const { system, concept, filter, valueSet } of objectsIn(compose.include)) {
    const isListed =
      typeof system === 'string' && Array.isArray(concept) && filter === undefined && valueSet === undefined;
    if (!isListed) return undefined;
    for (const { code } of objectsIn(concept)) if (typeof code === 'string') (codes[system] ??= []).push(code);
  }
  return codes;
}
