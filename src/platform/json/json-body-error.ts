export type JsonBodyErrorKind =
  'malformed' | 'duplicate-key' | 'forbidden-key' | 'forbidden-text' | 'too-deep' | 'number-too-long' | 'too-many';

/** The position of the fault in a text; line and column count from 1, the column in UTF-16 units. */
export interface JsonPlace {
  /** The path to the value, `name[0].given`; empty at the top. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/**
 * A refused JSON text, with the position of the fault; HTTP status 400. The message never repeats a value of the text,
 * which may be patient data.
 */
export class JsonBodyError extends Error {
  override readonly name = 'JsonBodyError';

  constructor(
    readonly kind: JsonBodyErrorKind,
    reason: string,
    readonly place?: JsonPlace,
  ) {
    super(place === undefined ? reason : `${reason} (${placeText(place)})`);
  }
}

function placeText({ path, line, column }: JsonPlace): string {
  return `${path === '' ? '' : `${path}, `}line ${line}, column ${column}`;
}
