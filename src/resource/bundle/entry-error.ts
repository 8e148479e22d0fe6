import { ServiceError } from '../../platform/errors/service-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { isTransactionConflict } from '../../platform/database/database-error';

/** What went wrong with one entry, so that the caller finds it: the expression begins with the entry. */
export function entryError(error: unknown, index: number): unknown {
  if (isTransactionConflict(error)) return error; // the whole transaction starts over
  const known = serviceErrorOf(error);
  if (known === undefined) return error;
  const entry = `Bundle.entry[${index}]`;
  const { expression } = known.details;
  if (expression?.startsWith('Bundle') === true) return known;
  return new ServiceError(
    known.kind,
    `${entry}: ${known.message}`,
    { ...known.details, expression: expression === undefined ? entry : `${entry}.${withinEntry(expression)}` },
    { cause: error },
  );
}

/** `Patient.name` becomes `resource.name`: expressions of a resource begin with its type. */
function withinEntry(expression: string): string {
  if (/^(request|resource|fullUrl)(\.|$)/.test(expression)) return expression;
  return `resource.${expression.replace(/^[A-Z][A-Za-z]*\./, '')}`;
}

/** Runs what belongs to one entry; its failure names the entry. */
export async function atEntry<T>(index: number, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw entryError(error, index);
  }
}

export function atEntrySync<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw entryError(error, index);
  }
}

export const refusedRequest = (message: string, member: 'method' | 'url' | undefined): ServiceError =>
  new ServiceError('invalid', message, { expression: member === undefined ? 'request' : `request.${member}` });
