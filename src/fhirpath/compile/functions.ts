import { NotCompiled } from '../syntax/expression';
import { matchesRegex } from './pattern';
import { areNodes } from './comparison';
import {
  assertKind,
  assertSingle,
  type Branch,
  commonTypeOf,
  type Compiled,
  computed,
  computedBranch,
  EvaluationError,
  evaluatorOf,
  existsOf,
  question,
  type Truth,
  truthOf,
  type Values,
} from './compiled';
import { holds } from './memory';
import { comparisonKindOf, distinct, MIXED, plain } from './values';

/**
 * Compiles an argument of a function. For `where` and `all`, the argument is compiled for the items of the path `item`.
 * Without `item`, it is compiled for `$this`.
 */
export type CompileArgument = (index: number, item?: Branch) => Compiled;

type FunctionMaker = (subject: Compiled, argument: CompileArgument, argumentCount: number) => Compiled;

/**
 * The functions that are compiled. The FHIRPath library evaluates all others (http://hl7.org/fhirpath/N1/#functions).
 */
export const FUNCTIONS: Readonly<Record<string, FunctionMaker>> = {
  empty: (subject) => {
    const exists = existsOf(subject);
    return question((focus, variables) => !exists(focus, variables));
  },
  exists: (subject, argument, argumentCount) => {
    if (argumentCount === 0) return question(existsOf(subject));
    const parts = itemsByBranch(subject, argument);
    return question((focus, variables) =>
      parts.some(({ values, holds }) => values(focus, variables).some((value) => holds(value, variables) === true)),
    );
  },
  all: (subject, argument) => {
    const parts = itemsByBranch(subject, argument);
    return question((focus, variables) =>
      parts.every(({ values, holds }) => values(focus, variables).every((value) => holds(value, variables) === true)),
    );
  },
  not: (subject) => {
    const truth = truthOf(subject);
    return question((focus, variables) => {
      const answer = truth(focus, variables);
      return answer === undefined ? undefined : !answer;
    });
  },
  count: (subject) => {
    const values = evaluatorOf(subject);
    return computed('System.Integer', (focus, variables) => [values(focus, variables).length]);
  },
  isDistinct: (subject) => {
    const values = differing(subject);
    return question((focus, variables) => {
      const found = values.all(focus, variables);
      return values.distinct(found).length === found.length;
    });
  },
  distinct: (subject) => union([subject]),
  first: (subject) => picked(subject, (values) => values.slice(0, 1)),
  last: (subject) => picked(subject, (values) => values.slice(-1)),
  tail: (subject) => picked(subject, (values) => values.slice(1)),
  hasValue: (subject) => {
    const values = evaluatorOf(subject);
    return question((focus, variables) => {
      const found = values(focus, variables);
      return found.length === 1 && /^(string|number|boolean)$/.test(typeof plain(found[0]));
    });
  },
  trace: (subject) => subject,
  select: (subject, argument) => ({
    branches: subject.branches.flatMap((branch) => {
      const items = evaluatorOf({ branches: [branch] });
      return argument(0, branch).branches.map((projected) => {
        const values = evaluatorOf({ branches: [projected] });
        return computedBranch(projected.type, (focus, variables) =>
          items(focus, variables).flatMap((item) => values(item, variables)),
        );
      });
    }),
  }),
  combine: (subject, argument) => ({ branches: [...subject.branches, ...argument(0).branches] }),
  intersect: (subject, argument) => {
    const other = argument(0);
    const values = evaluatorOf(union([subject]));
    const [kept, isOfNodes] = [differing(other).all, areNodes(subject, other)];
    return computed(commonTypeOf(subject), (focus, variables) => {
      const list = kept(focus, variables);
      return values(focus, variables).filter((value) => holds(list, value, isOfNodes));
    });
  },
  iif: (_subject, argument, argumentCount) => {
    const [condition, then] = [argument(0), argument(1)];
    const [truth, otherwise] = [argumentTruthOf(condition), argumentCount > 2 ? argument(2) : { branches: [] }];
    const type = commonTypeOf({ branches: [...then.branches, ...otherwise.branches] });
    const [a, b] = [evaluatorOf(then), evaluatorOf(otherwise)];
    return computed(type, (focus, variables) =>
      truth(focus, variables) === true ? a(focus, variables) : b(focus, variables),
    );
  },
  contains: (subject, argument) => textQuestion(subject, argument(0), (text, part) => text.includes(part)),
  startsWith: (subject, argument) => textQuestion(subject, argument(0), (text, part) => text.startsWith(part)),
  endsWith: (subject, argument) => textQuestion(subject, argument(0), (text, part) => text.endsWith(part)),
  matches: (subject, argument) => textQuestion(subject, argument(0), (text, pattern) => matchesRegex(text, pattern)),
  toInteger: (subject) => {
    assertKind(subject, 'boolean', 'string', 'integer');
    return ofOne(subject, 'System.Integer', (value) => {
      if (typeof value === 'string') return /^[+-]?\d+$/.test(value) ? Number(value) : undefined;
      return Number(value);
    });
  },
  toString: (subject: Compiled) => {
    // A decimal literal such as 1.50 is a number by now, and its text is lost. So decimal literals are left to the
    // FHIRPath library.
    const isOfLiteral = subject.branches.some(({ type }) => type === 'System.Decimal');
    assertKind(subject, 'boolean', 'string', 'integer', ...(isOfLiteral ? [] : (['decimal'] as const)));
    return ofOne(subject, 'System.String', textOfValue);
  },
};

/** Compiles `|` and `distinct()`: joins collections and removes duplicates. */
export function union(parts: readonly Compiled[]): Compiled {
  const joined = { branches: parts.flatMap(({ branches }) => branches) };
  if (joined.branches.length === 0) return joined;
  const values = differing(joined);
  const [first, ...others] = joined.branches;
  const type = others.every((branch) => branch.type === first?.type) ? first?.type : MIXED;
  return computed(type, (focus, variables) => values.distinct(values.all(focus, variables)));
}

/**
 * Makes functions that remove duplicates.
 * @throws NotCompiled if the FHIRPath library compares these values by more than their JSON, or if texts and elements
 * are mixed
 */
function differing(compiled: Compiled): { all: Values; distinct: (values: readonly unknown[]) => readonly unknown[] } {
  assertKind(compiled, 'boolean', 'string', 'integer', 'decimal', 'object', 'mixed');
  const isOfNodes = areNodes(compiled);
  return { all: evaluatorOf(compiled), distinct: (values) => distinct(values, isOfNodes) };
}

interface Items {
  readonly values: Values;
  readonly holds: Truth;
}

function itemsByBranch(subject: Compiled, argument: CompileArgument): readonly Items[] {
  return subject.branches.map((branch) => ({
    values: evaluatorOf({ branches: [branch] }),
    holds: argumentTruthOf(argument(0, branch)),
  }));
}

/**
 * The truth of an argument of `where`, `all` or `iif`. It is true for the single value `true`. The FHIRPath library
 * evaluates arguments that are no booleans.
 */
export function argumentTruthOf(condition: Compiled): Truth {
  assertKind(condition, 'boolean');
  if (condition.truth !== undefined) return condition.truth;
  const values = evaluatorOf(condition);
  return (focus, variables) => {
    const found = values(focus, variables);
    return found.length === 1 && plain(found[0]) === true;
  };
}

function picked(subject: Compiled, pick: (values: readonly unknown[]) => readonly unknown[]): Compiled {
  const values = evaluatorOf(subject);
  return computed(commonTypeOf(subject), (focus, variables) => pick(values(focus, variables)));
}

function ofOne(subject: Compiled, type: string, make: (value: unknown) => unknown): Compiled {
  const values = evaluatorOf(subject);
  return computed(type, (focus, variables) => {
    const found = values(focus, variables);
    assertSingle(found);
    const value = plain(found[0]);
    const made = value === undefined ? undefined : make(value);
    return made === undefined ? [] : [made];
  });
}

/** Compiles a boolean function about two texts. The result is undefined if a side is empty. */
function textQuestion(
  subject: Compiled,
  argument: Compiled,
  answer: (text: string, argument: string) => boolean,
): Compiled {
  assertKind(subject, 'string');
  assertKind(argument, 'string');
  const [texts, parts] = [evaluatorOf(subject), evaluatorOf(argument)];
  return question((focus, variables) => {
    const [found, given] = [texts(focus, variables), parts(focus, variables)];
    for (const side of [found, given]) assertSingle(side);
    const [text, part] = [plain(found[0]), plain(given[0])];
    if (text === undefined || part === undefined) return undefined;
    if (typeof text !== 'string' || typeof part !== 'string') throw new EvaluationError('a text is expected');
    return answer(text, part);
  });
}

/**
 * Compiles sums. `+` joins two texts or adds two integers, and is empty if a side is empty. `&` joins texts, and reads
 * an empty side as an empty text.
 */
export function sum(operator: '+' | '&', left: Compiled, right: Compiled): Compiled {
  const kinds = new Set([...left.branches, ...right.branches].map(({ type }) => comparisonKindOf(type)));
  const isOfTexts = [...kinds].every((kind) => kind === 'string');
  if (!isOfTexts && (operator === '&' || [...kinds].some((kind) => kind !== 'integer')))
    throw new NotCompiled(`"${operator}" of ${[...kinds].join(' and ')} is left to the library`);
  const [a, b] = [evaluatorOf(left), evaluatorOf(right)];
  return computed(isOfTexts ? 'System.String' : 'System.Integer', (focus, variables) => {
    const sides = [a(focus, variables), b(focus, variables)];
    for (const side of sides) assertSingle(side);
    const [x, y] = sides.map(([value]) => plain(value));
    if (operator === '&') return [`${textOrEmpty(x)}${textOrEmpty(y)}`];
    if (typeof x === 'string' && typeof y === 'string') return [x + y];
    return typeof x === 'number' && typeof y === 'number' ? [x + y] : [];
  });
}

/** @throws EvaluationError for numbers that JavaScript prints with an exponent */
function textOfValue(value: unknown): string {
  const text = String(value);
  if (typeof value === 'number' && text.includes('e'))
    throw new EvaluationError('the number is too large or too small');
  return text;
}

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
