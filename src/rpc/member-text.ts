import { membersOf } from '../platform/json/json-members';

/** Returns the JSON text of one member of an object given as text; undefined when the object does not have it. */
export const memberText = (objectText: string, name: string): string | undefined =>
  membersOf(objectText).find(({ key }) => key === name)?.valueText;
