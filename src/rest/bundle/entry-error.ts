import { type ErrorCode } from '../../platform/errors/error-codes';
import { type ErrorKind } from '../../platform/errors/error-kind';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { isTransactionConflict } from '../../platform/database/database-error';

/** A fault of one entry. Its message, issues and expressions begin with the entry, so that the caller finds it. */
export class EntryRefusal extends ServiceError {
  constructor(
    readonly index: number,
    { kind, message, details }: ServiceError,
    options?: ErrorOptions,
  ) {
    const entry = `Bundle.entry[${index}]`;
    const { expression, issues } = details;
    super(
      kind,
      `${entry}: ${message}`,
      {
        ...details,
        expression: placeOf(entry, expression),
        ...(issues === undefined ? {} : { issues: issues.map((issue) => placedIssue(entry, issue)) }),
      },
      options,
    );
  }
}

/**
 * Makes the refusal of an entry from the error of its work. Unexpected errors, and conflicts after which the
 * transaction starts over, are returned unchanged.
 */
export function entryError(error: unknown, index: number): unknown {
  if (isTransactionConflict(error) || error instanceof EntryRefusal) return error;
  const known = serviceErrorOf(error);
  return known === undefined ? error : new EntryRefusal(index, known, { cause: error });
}

const placedIssue = (entry: string, issue: ErrorIssue): ErrorIssue => ({
  ...issue,
  diagnostics: `${entry}: ${issue.diagnostics}`,
  expression: placeOf(entry, issue.expression),
});

/**
 * The expression of a fault in a Bundle. An expression of a resource begins with its type, so `Patient.name` becomes
 * `Bundle.entry[1].resource.name`.
 */
function placeOf(entry: string, expression = ''): string {
  if (expression === '') return entry;
  if (/^(request|resource|fullUrl)(\.|$)/.test(expression)) return `${entry}.${expression}`;
  const within = expression.replace(/^[A-Z][A-Za-z]*(\.|$)/, '');
  return within === '' ? `${entry}.resource` : `${entry}.resource.${within}`;
}

/** Runs the work for one entry, so that an error names the entry. */
export async function atEntry<T>(index: number, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw entryError(error, index);
  }
}

/**
 * Makes the error for a member at fault.
 * @param expression of the member, relative to the entry or to the Bundle
 */
export const faultAt = (
  expression: string,
  message: string,
  kind: ErrorKind = 'invalid',
  code?: ErrorCode,
): ServiceError =>
  new ServiceError(kind, message, { code: code ?? (kind === 'invalid' ? 'bundle-entry-invalid' : kind), expression });
