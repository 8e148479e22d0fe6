import { type Steps, atOnce } from '../time/steps';
import { compactJsonInSteps } from './compact-json';
import { type JsonMember, membersOf } from './json-members';

/** A JSON body as text and as parsed value. */
export interface ScannedJson {
  /** Compact: white space outside strings is dropped, every other character is as sent. */
  readonly text: string;
  /** The result of `JSON.parse`, whose numbers are rounded: store and compare the text instead. */
  readonly value: unknown;
  /**
   * The top-level members in the order sent; empty if the text is no object.
   * @internal
   */
  members(): readonly JsonMember[];
}

/**
 * Checks a body text once, before other code trusts it, and parses it.
 * @throws JsonBodyError like {@link compactJson}
 * @example
 * const draft = ResourceDraft.of(readJson('{"beds": 12, "area": 80.50}'), 'Ward', '4B');
 */
export function readJson(text: string): ScannedJson {
  return atOnce(readJsonInSteps(text));
}

/** Like {@link readJson}, in steps: for bodies of megabytes. */
export function* readJsonInSteps(text: string): Steps<ScannedJson> {
  const compact = yield* compactJsonInSteps(text);
  yield;
  const value: unknown = JSON.parse(compact);
  yield;
  return { text: compact, value, members: () => membersOf(compact) };
}
