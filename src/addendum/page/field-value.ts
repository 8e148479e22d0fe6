import { type JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type DiffKind, leafKindOf } from '../snapshots/snapshot-diff';

/** A value for display. The text of a string is the string itself; any other value is shown as JSON text. */
export interface FieldValue {
  readonly text: string;
  /** The kind of value; absent for a string. `coding` and `reference` are objects that fit into one line. */
  readonly kind?: DiffKind | 'coding' | 'reference' | undefined;
  readonly unit?: string;
}

export function leafOf(outline: JsonOutline, span: JsonSpan): FieldValue {
  const text = outline.textOf(span);
  if (text.startsWith('"')) return { text: unquoted(text) };
  return { text, kind: leafKindOf(text) };
}
