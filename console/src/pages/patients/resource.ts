import { type JsonValue } from '../../../../src/platform/json/lossless';

/** A resource that is shown: its text, and the tree of it whose numbers keep their digits. */
export interface Opened {
  readonly type: string;
  readonly id: string;
  readonly text: string;
  readonly tree: JsonValue;
}
