import { type Steps, atOnce } from '../time/steps';
import { compactJsonInSteps } from './compact-json';
import { type JsonMember, membersOf } from './json-members';

/** A JSON body as text and as a parsed value. */
export interface ScannedJson {
  /** The compact text: white space outside strings is dropped, all other characters are as sent. */
  readonly text: string;
  /** The result of `JSON.parse`. Its numbers are rounded, so store and compare the text instead. */
  readonly value: unknown;
  /** Returns the top-level members in the order sent; none if the text is not an object. */
  members(): readonly JsonMember[];
}

/**
 * Checks the text of a body and parses it. Other code trusts the result, so the check is made only once.
 * @throws JsonBodyError like {@link compactJson}
 * @example
 * const draft = ResourceDraft.of(readJson('{"beds": 12, "area": 80.50}'), 'Ward', '4B');
 */
export function readJson(text: string): ScannedJson {
  return atOnce(readJsonInSteps(text));
}

/** In steps, for bodies of megabytes. */
export function* readJsonInSteps(text: string): Steps<ScannedJson> {
  const compact = yield* compactJsonInSteps(text);
  yield;
  const value: unknown = JSON.parse(compact);
  yield;
  return { text: compact, value, members: () => membersOf(compact) };
}
