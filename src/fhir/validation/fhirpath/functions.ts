import {
  assertFitting,
  assertSingle,
  type Compiled,
  existsOf,
  question,
  type Truth,
  truthOf,
  typeOf,
  ValueLess,
  type Values,
  valuesOf,
} from './compiled';
import { distinct, joined } from './member';
import { holds } from './memory';

/** Compiles an argument for each item of the subject, as `where` and `all` need it. */
export type CompileArgument = (index: number, focusType: string | undefined) => Compiled;

type FunctionMaker = (subject: Compiled, argument: CompileArgument, argumentCount: number) => Compiled;

/** The functions that are compiled; others are left to the FHIRPath library (http://hl7.org/fhirpath/N1/#functions). */
export const FUNCTIONS: Readonly<Record<string, FunctionMaker>> = {
  empty: (subject) => {
    const exists = existsOf(subject);
    return question((focus, variables) => !exists(focus, variables));
  },
  not: (subject) => {
    const truth = truthOf(subject);
    return question((focus, variables) => {
      const answer = truth(focus, variables);
      return answer === undefined ? undefined : !answer;
    });
  },
  count: (subject) => system(subject, (values) => [values.length]),
  isDistinct: (subject) => ask(subject, (values) => distinct(values).length === values.length),
  distinct: (subject) => sameType(subject, distinct),
  first: (subject) => sameType(subject, (values) => values.slice(0, 1)),
  last: (subject) => sameType(subject, (values) => values.slice(-1)),
  tail: (subject) => sameType(subject, (values) => values.slice(1)),
  hasValue: (subject) => ask(subject, (values) => values.length === 1 && isPrimitive(values[0])),
  trace: (subject) => subject,
  where: (subject, argument) => ({
    branches: subject.branches.map(({ type, values }) => {
      const holds = truthOf(argument(0, type));
      return {
        type,
        values: (focus, variables) => values(focus, variables).filter((value) => holds(value, variables) === true),
      };
    }),
  }),
  select: (subject, argument) =>
    joined(
      subject.branches.map(({ type, values }) => ({
        branches: argument(0, type).branches.map((projected) => ({
          type: projected.type,
          values: (focus, variables) => values(focus, variables).flatMap((value) => projected.values(value, variables)),
        })),
      })),
    ),
  all: (subject, argument) => {
    const parts = subject.branches.map(({ type, values }) => ({ values, holds: truthOf(argument(0, type)) }));
    return question((focus, variables) =>
      parts.every(({ values, holds }) => values(focus, variables).every((value) => holds(value, variables) === true)),
    );
  },
  combine: (subject, argument) => joined([subject, argument(0, undefined)]),
  intersect: (subject, argument) => {
    const other = valuesOf(argument(0, undefined));
    const values = valuesOf(subject);
    return {
      branches: [
        {
          type: typeOf(subject),
          values: (focus, variables) => {
            const kept = other(focus, variables);
            return distinct(values(focus, variables)).filter((value) => holds(kept, value));
          },
        },
      ],
    };
  },
  iif: (_subject, argument, argumentCount) => {
    const condition = truthOf(argument(0, undefined));
    const then = truthOf(argument(1, undefined));
    const otherwise: Truth = argumentCount > 2 ? truthOf(argument(2, undefined)) : () => undefined;
    return question((focus, variables) =>
      condition(focus, variables) === true ? then(focus, variables) : otherwise(focus, variables),
    );
  },
  contains: (subject, argument) => textQuestion(subject, argument, (text, part) => text.includes(part)),
  startsWith: (subject, argument) => textQuestion(subject, argument, (text, part) => text.startsWith(part)),
  endsWith: (subject, argument) => textQuestion(subject, argument, (text, part) => text.endsWith(part)),
  matches: (subject, argument) => textQuestion(subject, argument, (text, pattern) => regexOf(pattern).test(text)),
  toInteger: (subject) =>
    ofOne(subject, (value) => {
      if (typeof value === 'number') return Number.isInteger(value) ? [value] : [];
      return typeof value === 'string' && /^[+-]?\d+$/.test(value) ? [Number(value)] : [];
    }),
  toString: (subject: Compiled) => ofOne(subject, (value) => (isPrimitive(value) ? [String(value)] : [])),
};

/** `exists()` and `exists(criteria)`. */
export function exists(
  subject: Compiled,
  criteria: ((focusType: string | undefined) => Compiled) | undefined,
): Compiled {
  if (criteria === undefined) return question(existsOf(subject));
  const parts = subject.branches.map(({ type, values }) => ({ values, holds: truthOf(criteria(type)) }));
  return question((focus, variables) =>
    parts.some(({ values, holds }) => values(focus, variables).some((value) => holds(value, variables) === true)),
  );
}

function ask(subject: Compiled, answer: (values: readonly unknown[]) => boolean): Compiled {
  const values = valuesOf(subject);
  return question((focus, variables) => answer(values(focus, variables)));
}

function system(subject: Compiled, make: (values: readonly unknown[]) => readonly unknown[]): Compiled {
  const values = valuesOf(subject);
  return { branches: [{ type: undefined, values: (focus, variables) => make(values(focus, variables)) }] };
}

function ofOne(subject: Compiled, make: (value: unknown) => readonly unknown[]): Compiled {
  const values = valuesOf(subject);
  return {
    branches: [
      {
        type: undefined,
        values: (focus, variables) => {
          const found = values(focus, variables);
          assertSingle(found, variables);
          return make(found[0]);
        },
      },
    ],
  };
}

function sameType(subject: Compiled, pick: (values: readonly unknown[]) => readonly unknown[]): Compiled {
  const values = valuesOf(subject);
  const picked: Values = (focus, variables) => pick(values(focus, variables));
  return { branches: [{ type: typeOf(subject), values: picked }] };
}

/** Undefined where a side is empty or no text. */
function textQuestion(
  subject: Compiled,
  argument: CompileArgument,
  answer: (text: string, argument: string) => boolean,
): Compiled {
  const [texts, parts] = [valuesOf(subject), valuesOf(argument(0, undefined))];
  return question((focus, variables) => {
    const found = texts(focus, variables);
    const [part] = parts(focus, variables);
    assertSingle(found, variables);
    assertFitting(
      [found[0], part].every((value) => value === undefined || typeof value === 'string' || value instanceof ValueLess),
      variables,
    );
    if (found.length !== 1 || typeof found[0] !== 'string' || typeof part !== 'string') return undefined;
    return answer(found[0], part);
  });
}

/** Patterns are literals of definitions: few, of HL7 and of stored profiles, and dear to compile. */
const regexes = new Map<string, RegExp>();
const MAX_REGEXES = 500;

function regexOf(pattern: string): RegExp {
  const known = regexes.get(pattern) ?? new RegExp(pattern, 's');
  // Of profiles that come and go, and of patterns that data hold, nothing may stay for ever.
  if (regexes.size >= MAX_REGEXES) regexes.clear();
  regexes.set(pattern, known);
  return known;
}

function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
