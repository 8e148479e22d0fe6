import { RE2JS, RE2JSException } from 're2js';
import { TooCostly } from '../errors/too-costly';

/** Maximum length of an expression, more than a person can check by eye. */
const MAX_PATTERN_LENGTH = 512;

/** Maximum number of instructions of a compiled expression. It is limited because nested repetitions multiply. */
const MAX_PROGRAM_SIZE = 1000;

/** Maximum product of instructions and characters of the text. It takes some tens of milliseconds in the worst case. */
const MAX_COST = 1_000_000;

/**
 * A regular expression in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). It never backtracks: its time
 * is bounded by the length of the expression times the length of the text (ADR 0021). As in other dialects, it may
 * match anywhere in the text.
 */
export class LinearRegex {
  private constructor(
    private readonly compiled: RE2JS,
    private readonly size: number,
  ) {}

  /** @returns the compiled expression, or a text that says what is wrong with `pattern` */
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
   * Whether the expression matches anywhere in the text.
   * @throws TooCostly if the text is too long for the expression
   */
  isIn(text: string): boolean {
    if (this.size * text.length > MAX_COST) throw new TooCostly('The text is too long for the expression');
    return this.compiled.test(text);
  }
}
