import { elementsOf, isPrimitiveType } from '../definitions';
import { nearestCode } from '../nearest-code';
import { type KnownMember } from './member-check';

/** Longer lists do not help: an extension has fifty types. */
const LISTED_CHOICES = 40;
/** Where an element could stand instead; more are no help. */
const LISTED_OWNERS = 3;
/** What is in these is found nearly everywhere. */
const GENERAL = new Set(['meta', 'text', 'contained', 'extension', 'modifierExtension']);

interface Hint {
  /** What to do instead, with a blank in front; may be empty. */
  readonly hint: string;
  /** Name of the element that is meant, where one is near. */
  readonly meant?: string;
}

/** What someone probably meant who sent a member that the type does not have. */
export function hintFor(key: string, type: string, members: ReadonlyMap<string, KnownMember>): Hint {
  const known = [...members].filter(([name]) => !name.startsWith('_'));
  const stem = key.replace(/^_/, '');
  const named = members.get(stem);
  if (named !== undefined && stem !== key)
    return { hint: ` "${stem}" is no primitive: its extensions stand inside of it.`, meant: stem };
  const choices = known.flatMap(([name, { choice }]) => (choice?.name === stem ? [name] : []));
  if (choices.length > 0) return { hint: ` Name its type: ${listOf(choices)}.`, meant: stem };
  const names = known.map(([name]) => name);
  const near = names.find((name) => name.toLowerCase() === stem.toLowerCase()) ?? nearestCode(stem, names);
  if (near !== undefined) {
    return { hint: ` Did you mean "${near}"?`, meant: members.get(near)?.choice?.name ?? near };
  }
  const types = known.filter(([, { choice }]) => choice !== undefined && stem.startsWith(choice.name));
  const [first] = types;
  if (first !== undefined)
    return { hint: ` It may be ${listOf(types.map(([name]) => name))}.`, meant: first[1].choice?.name ?? '' };
  if (stem === 'modifierExtension')
    return { hint: ' Only resources and elements of their own have it. Use "extension".' };
  const owners = ownersOf(stem, type);
  return { hint: owners.length === 0 ? '' : ` It may belong into ${owners.map((name) => `"${name}"`).join(' or ')}.` };
}

function listOf(names: readonly string[]): string {
  return names.length < LISTED_CHOICES ? names.join(', ') : `${names.slice(0, 10).join(', ')}, …`;
}

/** The elements of a type whose own elements have this name: `family` belongs into `name`. */
function ownersOf(name: string, type: string): readonly string[] {
  const owners = [...(elementsOf(type)?.values() ?? [])].filter(
    (element) =>
      !GENERAL.has(element.name) &&
      !element.isChoice &&
      element.types.some((of) => of !== 'Resource' && !isPrimitiveType(of) && (elementsOf(of)?.has(name) ?? false)),
  );
  return owners.length > LISTED_OWNERS ? [] : owners.map((owner) => owner.name);
}
