import { memoized } from '../../platform/memoized';
import { LinearRegex } from '../../platform/text/linear-regex';
import { TooCostly } from '../../platform/errors/too-costly';
import { EvaluationError } from './compiled';

/** Patterns are literals of definitions mostly: few, and costly to compile. Profiles come and go, and data hold patterns too. */
const compile = memoized((source) => LinearRegex.compile(source), 500);

/**
 * `matches()`, by RE2: FHIRPath comes from callers, and a pattern that backtracks would hold up everybody (ADR 0047). A point
 * matches line breaks too, as FHIRPath asks.
 * @param flags `i` and `m`, as FHIRPath has them
 * @throws EvaluationError for what is no pattern of RE2, and for a text that is too long for the pattern
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

/** The error of a pattern; undefined if it has none. */
export function patternFaultOf(pattern: string): string | undefined {
  const compiled = compiledPattern(pattern, '');
  return typeof compiled === 'string' ? compiled : undefined;
}

function compiledPattern(pattern: string, flags: string): LinearRegex | string {
  return /^[im]*$/.test(flags) ? compile(`(?s${flags})${pattern}`) : 'has flags other than i and m';
}
