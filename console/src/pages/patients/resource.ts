import { type JsonValue } from '../../../../src/platform/json/lossless';

/** A shown resource: its text, and a tree of it whose numbers keep their digits. */
export interface Opened {
  readonly type: string;
  readonly id: string;
  readonly text: string;
  readonly tree: JsonValue;
}
