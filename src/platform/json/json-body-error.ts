export type JsonBodyErrorKind =
  'malformed' | 'duplicate-key' | 'forbidden-key' | 'forbidden-text' | 'too-deep' | 'number-too-long' | 'too-many';

/** Where a text was refused; line and column count from 1, the column in UTF-16 units. */
export interface JsonPlace {
  /** The way to the value through keys and indexes, `name[0].given`; empty at the top. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Says that a JSON text is refused, and where; HTTP answers it with 400. The message never repeats a value of the text:
 * it may be of a patient.
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
