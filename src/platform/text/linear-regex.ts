import { RE2JS, RE2JSException } from 're2js';
import { TooCostly } from '../errors/too-costly';

/** Maximum length: more than a person can check by eye. */
const MAX_PATTERN_LENGTH = 512;

/** Maximum instructions of the compiled expression, since nested repetitions multiply. */
const MAX_PROGRAM_SIZE = 1000;

/** Maximum product of instructions and characters: some tens of milliseconds in the worst case. */
const MAX_COST = 1_000_000;

/**
 * A regular expression in RE2's syntax (https://github.com/google/re2/wiki/Syntax), which never backtracks: time is
 * bounded by the product of the lengths of expression and text (ADR 0021). It matches anywhere in the text, as in other
 * dialects.
 */
export class LinearRegex {
  private constructor(
    private readonly compiled: RE2JS,
    private readonly size: number,
  ) {}

  /**
   * @returns the fault of `pattern` as a text
   */
  static compile(pattern: string): LinearRegex | string {
    if (pattern.length > MAX_PATTERN_LENGTH) return `has more than ${MAX_PATTERN_LENGTH} characters`;
    try {
      const compiled = RE2JS.compile(pattern);
      const size = compiled.programSize();
      return size > MAX_PROGRAM_SIZE ? 'repeats too much' : new LinearRegex(compiled, size);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      return 'is no regular expression of RE2, which has neither look-around nor back-references';
    }
  }

  /**
   * @throws TooCostly if the text is too long for the expression
   * @throws TooCostly for a text that is too long for the expression
   */
  isIn(text: string): boolean {
    if (this.size * text.length > MAX_COST) throw new TooCostly('The text is too long for the expression');
    return this.compiled.test(text);
  }
}
