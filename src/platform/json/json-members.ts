import { endOfString, endOfValue, unquoted } from './json-skip';

export interface JsonMember {
  /** Without quotes and escapes. */
  readonly key: string;
  /** As sent, with quotes and escapes. */
  readonly keyText: string;
  readonly valueText: string;
}

/** The members of an object given as compact text, in order; none if the text is not an object. */
export function membersOf(objectText: string): readonly JsonMember[] {
  const members: JsonMember[] = [];
  if (objectText.startsWith('{"')) {
    let end = 0;
    do {
      const keyStart = end + 1;
      const keyEnd = endOfString(objectText, keyStart);
      end = endOfValue(objectText, keyEnd + 1);
      const keyText = objectText.slice(keyStart, keyEnd);
      members.push({ key: unquoted(keyText), keyText, valueText: objectText.slice(keyEnd + 1, end) });
    } while (objectText[end] === ',');
  }
  return members;
}

/** Returns the JSON text of one member of an object given as text; undefined when the object does not have it. */
export const memberText = (objectText: string, name: string): string | undefined =>
  membersOf(objectText).find(({ key }) => key === name)?.valueText;

/** The elements of an array given as compact text, in order; none if the text is not an array. */
export function elementsOf(arrayText: string): readonly string[] {
  const elements: string[] = [];
  if (arrayText.startsWith('[') && arrayText !== '[]') {
    let end = 0;
    do {
      const start = end + 1;
      end = endOfValue(arrayText, start);
      elements.push(arrayText.slice(start, end));
    } while (arrayText[end] === ',');
  }
  return elements;
}

/** Makes the text of an object from members that were read from a text. Every character is as sent. */
export const textOfMembers = (members: readonly JsonMember[]): string => braced(members.map(textOfMember));

/** Makes the text of an object from its members. Keys are given without escapes, values as JSON text. */
export function objectText(members: Iterable<readonly [key: string, valueText: string]>): string {
  return braced(Array.from(members, ([key, valueText]) => `${JSON.stringify(key)}:${valueText}`));
}

/**
 * Puts members at the beginning of an object text, in the given order, and removes the object's own members with the
 * same keys.
 */
export function withLeadingMembers(
  objectText: string,
  leading: readonly (readonly [key: string, valueText: string])[],
): string {
  const taken = new Set(leading.map(([key]) => key));
  return braced([
    ...leading.map(([key, valueText]) => `${JSON.stringify(key)}:${valueText}`),
    ...membersOf(objectText).flatMap((member) => (taken.has(member.key) ? [] : textOfMember(member))),
  ]);
}

/** Replaces the value of a member, or adds the member at the end. */
export function withMember(objectText: string, key: string, valueText: string): string {
  const members = membersOf(objectText);
  const texts = members.map((member) => `${member.keyText}:${member.key === key ? valueText : member.valueText}`);
  return braced(
    members.some((member) => member.key === key) ? texts : [...texts, `${JSON.stringify(key)}:${valueText}`],
  );
}

const textOfMember = ({ keyText, valueText }: JsonMember): string => `${keyText}:${valueText}`;

function braced(memberTexts: readonly string[]): string {
  return `{${memberTexts.join(',')}}`;
}
