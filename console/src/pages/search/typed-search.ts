import { type AskedSearch } from './print-call';

/** A search as typed: empty rows are for further parameters. */
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

/** Parameters with a name and a value; without a value, nothing was typed yet. */
export const askedSearch = ({ type, rows }: SearchDraft): AskedSearch => ({
  type: type.trim(),
  parameters: rows
    .map(({ name, value }) => [name.trim(), value] as const)
    .filter(([name, value]) => name !== '' && value !== ''),
});

/**
 * Parses a pasted search: `Observation?code=x`, `GET /fhir/Observation?code=x`, or a URL.
 * @returns undefined for texts without a query
 */
export function pastedSearch(text: string): SearchDraft | undefined {
  const [, type = '', query = ''] =
    /^\s*(?:GET\s+)?(?:https?:\/\/[^\s?#]*?\/)?(?:\/?fhir\/|\/)?([A-Z][A-Za-z]*)\?(\S*)\s*$/.exec(text) ?? [];
  if (type === '') return undefined;
  const rows = [...new URLSearchParams(query)].map(([name, value], key) => ({ key, name, value }));
  return { type, rows: [...rows, { key: rows.length, name: '', value: '' }] };
}
