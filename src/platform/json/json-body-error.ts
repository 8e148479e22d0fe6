import { type KindedCode } from '../errors/error-codes';
import { ServiceError } from '../errors/service-error';

/** The position of a fault in a text. Line and column are counted from 1, the column in UTF-16 units. */
export interface JsonPlace {
  /** The path to the value, such as `name[0].given`; empty at the top level. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The error for a refused text, with the position of the fault. The message never contains a value of the text, since
 * that may be patient data.
 */
export class JsonBodyError extends ServiceError {
  constructor(
    code: KindedCode,
    reason: string,
    readonly place?: JsonPlace,
  ) {
    super(code, place === undefined ? reason : `${reason} (${placeText(place)})`);
  }
}

function placeText({ path, line, column }: JsonPlace): string {
  return `${path === '' ? '' : `${path}, `}line ${line}, column ${column}`;
}
