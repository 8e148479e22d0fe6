import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { isLenient } from '../../platform/http/known-parameters';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { elementsOfType, isR4ResourceType, membersOfType } from '../definitions/definitions';
import { askedElements } from './element-paths';
import { type Subset } from './subset';

/**
 * One path of `_elements`: `Patient.contact.name`, or `-photo` to exclude an element. Its length is bounded, since no
 * resource is deeper than 64 levels.
 */
const PATH = /^-?\w[\w-]*(?:\.\w[\w-]*){0,63}$/;

/** Maximum number of paths in `_elements`; a search parameter may have as many values. */
const MOST_NAMES = 1_000;

/** The answer that a part is requested of. */
interface AskedOf {
  /** The types of all its resources; none if they are not known, as behind an include. */
  readonly types: readonly string[];
  /** The header `Prefer`, which may request that unknown names are ignored. */
  readonly prefer: string | undefined;
}

/**
 * Reads `_summary` and `_elements` (http://hl7.org/fhir/R4/search.html#summary, #elements).
 * @returns `'count'` if no resources are requested, undefined for whole resources
 * @throws ServiceError 'invalid' for other values, and for an element that no type of the answer has
 */
export function readSubset(query: URLSearchParams, { types, prefer }: AskedOf): Subset | 'count' | undefined {
  const summary = query.get('_summary') ?? '';
  const sent = query.getAll('_elements').join(',');
  const names = sent.split(',', MOST_NAMES + 1);
  if (names.length > MOST_NAMES) throw parameterInvalid(`_elements takes at most ${MOST_NAMES} names of elements.`);
  const paths = names.map((name) => name.trim()).filter((name) => name !== '');
  if (summary === 'count') return 'count';
  if (summary !== '' && summary !== 'true' && summary !== 'text' && summary !== 'data' && summary !== 'false')
    throw parameterInvalid('_summary must be true, text, data, count or false.');
  const isWhole = summary === '' || summary === 'false';
  if (paths.length === 0) return isWhole ? undefined : { summary };
  if (!isWhole) throw new ServiceError('parameters-exclusive', 'Use _summary or _elements, not both.');
  if (!paths.every((path) => PATH.test(path)))
    throw parameterInvalid('_elements must be names of elements with commas between, such as name,birthDate.');
  if (!isLenient(prefer)) for (const path of paths) assertElement(path.replace(/^-/, ''), types);
  const [dropped, kept] = [true, false].map((isDropped) =>
    paths.filter((path) => path.startsWith('-') === isDropped).map((path) => path.replace(/^-/, '').split('.')),
  );
  return { elements: askedElements(kept ?? [], dropped ?? []) };
}

/** Refuses a misspelt name: its element would silently be absent, although the resources have it. */
function assertElement(path: string, types: readonly string[]): void {
  const [first = '', ...rest] = path.split('.');
  const isPrefixed = isR4ResourceType(first);
  const [searched, steps] = isPrefixed ? [[first], rest] : [types, [first, ...rest]];
  if (searched.length === 0 || searched.some((type) => leadsSomewhere(type, steps))) return;
  const known = searched.flatMap((type) => [...(elementsOfType(type)?.keys() ?? [])]);
  const hint = didYouMean(nearestCode(steps[0] ?? '', known));
  const [type = ''] = searched;
  const lacking = searched.length === 1 ? `${type} does not have` : 'none of the searched types has';
  throw parameterInvalid(`_elements names "${path.slice(0, 64)}", which ${lacking}.${hint}`);
}

/** Whether a type has the element of a path, by its name or its JSON key. Types outside of R4 may have any element. */
function leadsSomewhere(type: string, [step, ...rest]: readonly string[]): boolean {
  const elements = elementsOfType(type);
  if (step === undefined || step === 'resourceType' || elements === undefined || type === 'Resource') return true;
  const name = step.replace(/^_/, '');
  const member = membersOfType(type)?.get(name);
  const types = member === undefined ? (elements.get(name)?.types ?? []) : [member.type];
  return types.some((below) => leadsSomewhere(below, rest));
}
