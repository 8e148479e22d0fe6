import { elementsOfType, isPrimitiveType } from '../../fhir/definitions/definitions';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { type KnownMember } from './member-check';

/** Maximum number of choices in a hint. A longer list does not help: the value of an extension has fifty types. */
const LISTED_CHOICES = 40;
/** Maximum number of parents that a hint suggests for a misplaced element. More do not help. */
const LISTED_OWNERS = 3;
/** Members that nearly every element has, so that they are no hint. */
const GENERAL = new Set(['meta', 'text', 'contained', 'extension', 'modifierExtension']);

interface Hint {
  /** A sentence that says what to do instead, with a leading blank; may be empty. */
  readonly hint: string;
  /** Name of the element that was probably meant, if one is near. */
  readonly meant?: string;
}

/** A hint for a member that the type does not have: what was probably meant. */
export function hintFor(key: string, type: string, members: ReadonlyMap<string, KnownMember>): Hint {
  if (key === 'fhir_comments') return { hint: ' R4 has no comments in JSON. Leave them out.' };
  const known = [...members].filter(([name]) => !name.startsWith('_'));
  const stem = key.replace(/^_/, '');
  const named = members.get(stem);
  if (named !== undefined && stem !== key)
    return { hint: ` "${stem}" is no primitive: its extensions are inside it.`, meant: stem };
  const choices = known.flatMap(([name, { choice }]) => (choice?.name === stem ? [name] : []));
  if (choices.length > 0) return { hint: ` Name its type: ${shortListOf(choices)}.`, meant: stem };
  const types = known.flatMap(([name, { choice }]) =>
    choice !== undefined && stem.startsWith(choice.name)
      ? [{ name, type: name.slice(choice.name.length), choice }]
      : [],
  );
  const [first] = types;
  // "valueText" is nearer to "valueMeta" than to any sensible name. So for a choice only the types are compared.
  const names = known.map(([name]) => name);
  const near = first === undefined ? nearestCode(stem, names) : nearestChoice(stem, types);
  if (near !== undefined) return { hint: didYouMean(near), meant: members.get(near)?.choice?.name ?? near };
  if (first !== undefined)
    return { hint: ` It may be ${shortListOf(types.map(({ name }) => name))}.`, meant: first.choice.name };
  if (stem === 'modifierExtension')
    return { hint: ' Only resources and elements of their own have it. Use "extension".' };
  const owners = ownersOf(stem, type);
  return { hint: owners.length === 0 ? '' : ` It may belong into ${owners.map((name) => `"${name}"`).join(' or ')}.` };
}

interface ChoiceMember {
  readonly name: string;
  readonly type: string;
  readonly choice: { readonly name: string };
}

function nearestChoice(text: string, members: readonly ChoiceMember[]): string | undefined {
  const types = members.map(({ type }) => type);
  return members.find(({ type, choice }) => nearestCode(text.slice(choice.name.length), types) === type)?.name;
}

const shortListOf = (names: readonly string[]): string =>
  names.length < LISTED_CHOICES ? names.join(', ') : `${names.slice(0, 10).join(', ')}, …`;

/** The elements of a type that have a child element with this name: `family` belongs in `name`. */
function ownersOf(name: string, type: string): readonly string[] {
  const owners = [...(elementsOfType(type)?.values() ?? [])].filter(
    (element) =>
      !GENERAL.has(element.name) &&
      !element.isChoice &&
      element.types.some((of) => of !== 'Resource' && !isPrimitiveType(of) && (elementsOfType(of)?.has(name) ?? false)),
  );
  return owners.length > LISTED_OWNERS ? [] : owners.map((owner) => owner.name);
}
