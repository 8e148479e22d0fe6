import { Ajv, type Options } from 'ajv';
import { LinearRegex } from '../text/linear-regex';

/** The regular expressions of schemas. They never backtrack. */
const linearRegExp = Object.assign(
  (pattern: string): { test: (text: string) => boolean } => {
    const regex = LinearRegex.compile(pattern);
    if (typeof regex === 'string') throw new Error(`a pattern ${regex}`);
    return { test: (text) => regex.isIn(text) };
  },
  { code: 'linearRegExp' },
);

/**
 * Makes a compiler for JSON schemas (draft-07) that decide whether something is allowed. Unknown keywords and formats
 * are errors, since an ignored condition would allow too much. Compiled schemas throw TooCostly for a text that is too
 * long for a pattern.
 */
export const strictAjv = (options: Options = {}): Ajv =>
  new Ajv({
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    logger: false,
    inlineRefs: false,
    addUsedSchema: false,
    code: { regExp: linearRegExp },
    ...options,
  });
