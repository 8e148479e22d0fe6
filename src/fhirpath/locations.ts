import { memoized } from '../platform/memoized';
import { isObject } from '../platform/json/plain-object';
import { assertAllowed, assertLength } from './allowed';
import { type LocationStep, locationsByLibrary } from './library';
import { parseExpression } from './syntax/parse-expression';

type Locate = (resource: unknown) => readonly (readonly LocationStep[] | undefined)[];

/** A path of members, some with an index: `Patient.contact[3].telecom[0].value`. */
const MEMBERS = /^(?:[A-Z]\w*\.)?[a-z]\w*(?:\[\d+\])?(?:\.[a-z]\w*(?:\[\d+\])?)*$/;

interface Member {
  readonly name: string;
  readonly index: number | undefined;
}

/**
 * Compiles a path of a FHIRPath patch. The FHIRPath library always evaluates it, since nodes of the library hold the
 * locations of elements. To take one element of a list, the library visits all of them, for some 4 µs each. So for a
 * path of members, the library gets a resource whose lists hold only the elements that the path takes: a patch with
 * hundreds of paths into one long list would cost too much otherwise.
 * @returns a function that finds elements in a resource, as locations; undefined for a value that is no element
 * @throws NotAllowed for a function or variable that paths may not use, ExpressionError for invalid FHIRPath
 */
export function compileLocations(text: string): Locate {
  if (!MEMBERS.test(text)) return located(text);
  const members = text
    .split('.')
    .filter((part) => /^[a-z]/.test(part))
    .map(memberOf);
  // Each digit of an index becomes a zero, so the positions in error messages remain correct.
  const locate = located(text.replace(/(?<!\d)\d+(?=\])/g, (digits) => '0'.repeat(digits.length)));
  return (resource) => {
    const narrowed = narrow(resource, members);
    if (narrowed === undefined) return located(text)(resource);
    return locate(narrowed).map((location) => location?.map((step, depth) => inWhole(step, members[depth])));
  };
}

// Applications repeat paths, and the library takes about a millisecond to compile one.
const located = memoized((text): Locate => {
  assertLength(text, 'patch');
  const expression = parseExpression(text);
  assertAllowed(expression, 'patch');
  return locationsByLibrary(text);
}, 500);

function memberOf(part: string): Member {
  const [name = '', index] = part.split(/[[\]]/);
  return { name, index: index === undefined ? undefined : Number(index) };
}

const inWhole = ({ key, index }: LocationStep, member: Member | undefined): LocationStep => ({
  key,
  index: index === undefined ? undefined : index + (member?.index ?? 0),
});

/**
 * A copy of the value in which each list on the path holds only the element that the path takes. Undefined if an index
 * may count elements of more than one list: the path goes through all elements of an outer list, or leads to primitives
 * with extensions.
 */
function narrow(value: unknown, members: readonly Member[]): unknown {
  const [member, ...inner] = members;
  if (member === undefined || members.every(({ index }) => index === undefined)) return value;
  if (!isObject(value)) return undefined;
  const { name, index } = member;
  const child = value[name];
  if (index === undefined) return withMember(value, name, narrow(child, inner));
  if (!Array.isArray(child) || Object.hasOwn(value, `_${name}`)) return undefined;
  if (index >= child.length) return { ...value, [name]: [] };
  const element = narrow(child[index], inner);
  return withMember(value, name, element === undefined ? undefined : [element]);
}

const withMember = (value: object, name: string, child: unknown): object | undefined =>
  child === undefined ? undefined : { ...value, [name]: child };
