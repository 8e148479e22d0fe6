import { type Steps } from '../time/steps';
import { type JsonLimits, compactJson, compactJsonInSteps } from './compact-json';
import { type JsonMember, membersOf } from './json-members';

export interface ScannedJson {
  /** Compact: white space outside strings is dropped, every other character is as sent. */
  readonly text: string;
  /** What `JSON.parse` makes of the text. Numbers lose digits here: store and compare the text. */
  readonly value: unknown;
  /** The top-level members in the order sent; empty when the text is no object. @internal */
  members(): readonly JsonMember[];
}

/**
 * Scans a body once, as text, before anything trusts it.
 * @throws JsonBodyError for what {@link compactJson} refuses.
 */
export function readJson(text: string, limits?: JsonLimits): ScannedJson {
  return scannedJson(compactJson(text, limits));
}

/** As {@link readJson}, in steps: for bodies of megabytes, which others should not wait for. */
export function* readJsonInSteps(text: string): Steps<ScannedJson> {
  const compact = yield* compactJsonInSteps(text);
  yield;
  const scanned = scannedJson(compact);
  yield;
  return scanned;
}

const scannedJson = (compact: string): ScannedJson => ({
  text: compact,
  value: JSON.parse(compact),
  members: () => membersOf(compact),
});
