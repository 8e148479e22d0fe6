import { type Steps, atOnce } from '../time/steps';
import { compactJsonInSteps } from './compact-json';
import { type JsonMember, membersOf } from './json-members';

/** A JSON body as text and as parsed value. */
export interface ScannedJson {
  /** Compact: white space outside strings is dropped, every other character is as sent. */
  readonly text: string;
  /** The result of `JSON.parse`. Numbers lose digits here: store and compare the text. */
  readonly value: unknown;
  /** The top-level members in the order sent; empty when the text is no object. @internal */
  members(): readonly JsonMember[];
}

/**
 * Scans a body once, as text, before anything trusts it.
 * @throws JsonBodyError for what {@link compactJson} refuses.
 * @example
 * const draft = ResourceDraft.of(readJson('{"beds": 12, "area": 80.50}'), 'Ward', '4B');
 */
export function readJson(text: string): ScannedJson {
  return atOnce(readJsonInSteps(text));
}

/** As {@link readJson}, in steps: for bodies of megabytes. */
export function* readJsonInSteps(text: string): Steps<ScannedJson> {
  const compact = yield* compactJsonInSteps(text);
  yield;
  const value: unknown = JSON.parse(compact);
  yield;
  return { text: compact, value, members: () => membersOf(compact) };
}
