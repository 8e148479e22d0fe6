import { systemCodeOf } from '../errors/system-error';

/**
 * Names of errors whose messages may be logged, since they are about code. Messages of parsers (SyntaxError,
 * YAMLException …) are not: they quote the text that cannot be read.
 */
const TELLING = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'QueryFailedError', 'error']);

/**
 * SQLSTATEs of errors whose messages contain values: data exceptions ("invalid input syntax for type integer: …") and
 * errors that functions raise. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const QUOTING = /^(22|P0)[0-9A-Z]{3}$/;

/** Name, code and stack of an unexpected error, and its message unless that may contain patient data. */
export function errorTrace(error: unknown): string {
  if (!(error instanceof Error)) return `Something that is no Error was thrown: ${typeof error}`;
  const { name, message, stack = '' } = error;
  const code = systemCodeOf(error);
  const isTelling = TELLING.has(name) && (code === undefined || !QUOTING.test(code));
  const head = `${name}${code === undefined ? '' : ` ${code}`}${isTelling && message !== '' ? `: ${message}` : ''}`;
  return `${head}${framesOf(stack, message)}`;
}

/**
 * Returns only the name and code of an error, for expected failures. The message is left out, since messages of the
 * database driver can contain values.
 */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = systemCodeOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
}

/**
 * Returns the frames of a stack. V8 writes the message before the frames; if the message is empty, a colon may remain.
 */
function framesOf(stack: string, message: string): string {
  if (message === '') return stack.slice(stack.search(/\n {4}at /));
  return stack.includes(message) ? stack.slice(stack.indexOf(message) + message.length) : '';
}
