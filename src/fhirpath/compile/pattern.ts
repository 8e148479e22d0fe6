import { memoized } from '../../platform/memoized';
import { LinearRegex } from '../../platform/text/linear-regex';
import { TooCostly } from '../../platform/errors/too-costly';
import { EvaluationError } from './compiled';

/**
 * Compiled patterns. Most are literals in definitions: these are few, and expensive to compile. The cache is bounded,
 * since profiles change, and since data may hold patterns too.
 */
const compile = memoized((source) => LinearRegex.compile(source), 500);

/**
 * Implements `matches()` by RE2. Callers send FHIRPath, and a pattern that backtracks would block all requests (ADR
 * 0047). A dot also matches line breaks, as FHIRPath requires.
 * @param flags `i` and `m`, as in FHIRPath
 * @throws EvaluationError for a pattern that RE2 refuses, and for a text that is too long for the pattern
 */
export function matchesRegex(text: string, pattern: string, flags = ''): boolean {
  const compiled = compiledPattern(pattern, flags);
  if (typeof compiled === 'string') throw new EvaluationError(`the pattern ${compiled}`);
  try {
    return compiled.isIn(text);
  } catch (error) {
    if (error instanceof TooCostly) throw new EvaluationError('the text is too long for the pattern', { cause: error });
    throw error;
  }
}

/** Undefined if the pattern is valid. */
export function patternFaultOf(pattern: string): string | undefined {
  const compiled = compiledPattern(pattern, '');
  return typeof compiled === 'string' ? compiled : undefined;
}

function compiledPattern(pattern: string, flags: string): LinearRegex | string {
  return /^[im]*$/.test(flags) ? compile(`(?s${flags})${pattern}`) : 'has flags other than i and m';
}
