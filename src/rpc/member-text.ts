import { membersOf } from '../platform/json/json-members';

/** The JSON text of one member of an object text; undefined when there is none. */
export const memberText = (objectText: string, name: string): string | undefined =>
  membersOf(objectText).find(({ key }) => key === name)?.valueText;
