import { type AskedSearch } from './print-call';

/** A search as typed. Its empty rows are for further parameters. */
export interface SearchDraft {
  readonly type: string;
  readonly rows: readonly DraftRow[];
}

export interface DraftRow {
  /** Identifies a row while its name and value change. */
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

export const EMPTY_SEARCH: SearchDraft = { type: '', rows: [{ key: 0, name: '', value: '' }] };

/** The parameters that have a name and a value. Without a value, nothing was typed yet. */
export const askedSearch = ({ type, rows }: SearchDraft): AskedSearch => ({
  type: type.trim(),
  parameters: rows
    .map(({ name, value }) => [name.trim(), value] as const)
    .filter(([name, value]) => name !== '' && value !== ''),
});

/** The draft with whole queries split into rows: `code=x&_sort=-date` may be typed into the field of a name. */
export function withRowsOf({ type, rows }: SearchDraft): SearchDraft {
  if (!rows.some(({ name }) => name.includes('='))) return { type, rows };
  const parts = rows.flatMap(({ name, value }): readonly (readonly [string, string])[] =>
    name.includes('=') ? [...new URLSearchParams(name.replace(/^\?/, ''))] : [[name, value]],
  );
  return { type, rows: rowsOf(parts.filter(([name, value]) => name !== '' || value !== '')) };
}

/** Rows for these parameters, followed by an empty row. */
const rowsOf = (parameters: readonly (readonly [name: string, value: string])[]): readonly DraftRow[] =>
  [...parameters, ['', ''] as const].map(([name, value], key) => ({ key, name, value }));

/**
 * Parses a pasted search: `Observation?code=x`, `GET /fhir/Observation?code=x`, or a URL.
 * @returns undefined for texts without a query
 */
export function pastedSearch(text: string): SearchDraft | undefined {
  const [, type = '', query = ''] =
    /^\s*(?:GET\s+)?(?:https?:\/\/[^\s?#]*?\/)?(?:\/?fhir\/|\/)?([A-Z][A-Za-z]*)\?(\S*)\s*$/.exec(text) ?? [];
  if (type === '') return undefined;
  return { type, rows: rowsOf([...new URLSearchParams(query)]) };
}
