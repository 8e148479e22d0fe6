import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { impliedCodesOf, withoutImplied } from '../parse/implied-system';
import { splitOutsideEscapes, unescaped } from '../parse/values';

/**
 * Compiles a check that a body holds the texts of token, uri and reference criteria. Its purpose is to exclude
 * accidental collisions of hashes, so it may accept bodies that do not match. It ignores modifiers, chains, case, and
 * booleans, which an expression may compute (`deceased`).
 */
export function holdsTexts(
  criteria: URLSearchParams,
  parameterOf: (code: string) => SearchParameter | undefined,
): (body: string) => boolean {
  const checks = [...criteria].flatMap(([code, value]) => {
    const parameter = parameterOf(code);
    if (parameter === undefined || code === '_id') return [];
    const check = CHECKS[parameter.kind];
    return check === undefined ? [] : [splitOutsideEscapes(value, ',').map((one) => check(one, parameter))];
  });
  if (checks.length === 0) return () => true;
  return (body) => {
    const texts = new Set<string>();
    gather(JSON.parse(body), texts);
    return checks.every((either) => either.some((isIn) => isIn(texts)));
  };
}

type TextCheck = (texts: ReadonlySet<string>) => boolean;

const CHECKS: Partial<Record<SearchParameterKind, (value: string, parameter: SearchParameter) => TextCheck>> = {
  token: (value, parameter) => {
    const [first = '', second] = splitOutsideEscapes(value, '|').map(unescaped);
    const token = second === undefined ? { code: first } : { system: first, code: second };
    // A body does not hold the system that R4 implies for an element of type `code`.
    const isImplied = token.code === '' && impliedCodesOf(parameter, first) !== undefined;
    const { system = '', code } = isImplied ? { code: '' } : withoutImplied(parameter, token);
    const wanted = [system, code].map((text) => text.toLowerCase()).filter((text) => !DERIVED.has(text));
    return (texts) => wanted.every((text) => texts.has(text));
  },
  uri: (value) => {
    const wanted = unescaped(value.toLowerCase());
    return (texts) =>
      texts.has(wanted) || some(texts, (text) => text.startsWith(`${wanted}|`) || text.startsWith(`${wanted}#`));
  },
  reference: (value) => {
    const wanted = target(unescaped(value.toLowerCase()));
    const lastStep = wanted.slice(wanted.lastIndexOf('/') + 1);
    // `Patient/p7`, its URL, `p7` alone and the `id` of `{resourceType, id}` are the same target.
    return (texts) =>
      texts.has(lastStep) || some(texts, (text) => target(text) === wanted || target(text).endsWith(`/${lastStep}`));
  },
};

const DERIVED = new Set(['', 'true', 'false']);

const target = (reference: string): string => reference.replace(/(?<=.)[#|].*/s, '').replace(/\/_history\/[^/]*$/, '');

function some(texts: ReadonlySet<string>, isWanted: (text: string) => boolean): boolean {
  for (const text of texts) if (isWanted(text)) return true;
  return false;
}

/**
 * Collects all texts below a value, in lower case. The recursion is bounded, since bodies are checked for their depth
 * when they are written.
 */
function gather(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string' || typeof value === 'number') texts.add(String(value).toLowerCase());
  else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) gather(member, texts);
  }
}
