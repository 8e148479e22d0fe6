/**
 * Errors whose messages are about code. Messages of parsers (SyntaxError, YAMLException …) quote the text that they
 * cannot read.
 */
const TELLING = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'QueryFailedError', 'error']);

/**
 * Classes of SQLSTATE whose messages contain values: data exceptions ("invalid input syntax for type integer: …") and
 * errors that functions raise. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const QUOTING = /^(22|P0)[0-9A-Z]{3}$/;

/**
 * The log text of an unexpected error: name, code and stack frames, and the message unless it may quote patient data.
 */
export function errorTrace(error: unknown): string {
  if (!(error instanceof Error)) return `Something that is no Error was thrown: ${typeof error}`;
  const { name, message, stack = '' } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const isTelling = TELLING.has(name) && (code === undefined || !QUOTING.test(code));
  const head = `${name}${code === undefined ? '' : ` ${code}`}${isTelling && message !== '' ? `: ${message}` : ''}`;
  return `${head}${framesOf(stack, message)}`;
}

/** Only name and code, for expected failures: messages of the database driver can quote values. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}

/** V8 writes the message before the frames; an empty message may leave a colon. */
function framesOf(stack: string, message: string): string {
  if (message === '') return stack.slice(stack.search(/\n {4}at /));
  return stack.includes(message) ? stack.slice(stack.indexOf(message) + message.length) : '';
}
