import { nearestCode } from '../platform/text/nearest-code';
import { childNodesOf, type Expression, ExpressionError } from './syntax/expression';
import { patternFaultOf } from './compile/pattern';

/**
 * The use of an expression: `criterion` in a trigger of a topic, `constraint` of a stored profile, `patch` for an
 * operation of a FHIRPath patch.
 */
export type Use = 'criterion' | 'constraint' | 'patch';

/** Valid FHIRPath with a feature that is not allowed for its use. */
export class NotAllowed extends ExpressionError {}

interface Rules {
  readonly name: string;
  readonly maxLength: number;
  /**
   * Maximum number of operators `+` and `&` in an expression. Each may double a text, so six can make it 64 times as
   * long.
   */
  readonly maxSums: number;
  readonly variables: RegExp;
  readonly variableNames: string;
}

const RULES: Readonly<Record<Use, Rules>> = {
  criterion: {
    name: 'criteria',
    maxLength: 2_000,
    maxSums: 6,
    variables: /^(current|previous|resource|context|ucum|sct|loinc)$/,
    variableNames: '%current, %previous, %resource, %context, %ucum, %sct, %loinc',
  },
  constraint: {
    name: 'constraints',
    maxLength: 4_000,
    maxSums: 100,
    variables: /^(resource|rootResource|context|ucum|sct|loinc|(vs|ext)-.*)$/,
    variableNames: '%resource, %rootResource, %context, %ucum, %sct, %loinc',
  },
  patch: { name: 'paths of a patch', maxLength: 2_000, maxSums: 0, variables: /^(?!)/, variableNames: 'none' },
};

interface AllowedFunction {
  readonly least: number;
  readonly most: number;
  readonly uses: readonly Use[];
}

const [ALL, RULING]: readonly (readonly Use[])[] = [
  ['criterion', 'constraint', 'patch'],
  ['criterion', 'constraint'],
];

/**
 * The functions that expressions of callers may use, with their minimum and maximum number of arguments. The number is
 * checked here, since the FHIRPath library ignores a wrong number and returns empty. Functions that make long texts or
 * lists from short ones (`aggregate`, `replace`, `toChars`, …) are left out of the list: a value beyond JavaScript's
 * limits would end the process. Paths of a patch may only select elements.
 */
const FUNCTIONS: ReadonlyMap<string, AllowedFunction> = new Map([
  ...named(ALL, [0, 0], 'first last tail single empty not count hasValue lower upper trim length toString distinct'),
  ...named(
    ALL,
    [1, 1],
    'where skip take ofType as is extension all startsWith endsWith contains indexOf intersect exclude',
  ),
  ...named(ALL, [0, 1], 'exists'),
  ...named(ALL, [1, 2], 'substring'),
  ...named(
    RULING,
    [0, 0],
    `allTrue anyTrue allFalse anyFalse isDistinct abs ceiling floor truncate toInteger toDecimal toDate toDateTime toTime
     toBoolean convertsToBoolean convertsToInteger convertsToDecimal convertsToString convertsToDate convertsToDateTime
     convertsToTime getValue now today timeOfDay children descendants resolve sum min max avg yearOf monthOf dayOf hourOf
     minuteOf secondOf dateOf timeOf type`,
  ),
  ...named(RULING, [1, 1], 'select repeat subsetOf supersetOf combine union lastIndexOf'),
  ...named(RULING, [0, 1], 'round toQuantity convertsToQuantity'),
  ...named(RULING, [1, 2], 'matches matchesFull'),
  ...named(RULING, [2, 3], 'iif'),
  ...named(['constraint'], [1, 2], 'trace'),
]);

function named(
  uses: readonly Use[] | undefined,
  [least, most]: readonly [number, number],
  names: string,
): [string, AllowedFunction][] {
  return names.split(/\s+/).map((name) => [name, { least, most, uses: uses ?? [] }]);
}

export function allowedFunctions(use: Use): readonly string[] {
  return [...FUNCTIONS].filter(([, { uses }]) => uses.includes(use)).map(([name]) => name);
}

/** @throws ExpressionError for a text that would take too long to parse */
export function assertLength(text: string, use: Use): void {
  const { maxLength } = RULES[use];
  if (text.length > maxLength) throw new ExpressionError(`it has more than ${maxLength} characters`);
}

/** @throws NotAllowed at the first feature that is not allowed for the use */
export function assertAllowed(expression: Expression, use: Use): void {
  const rules = RULES[use];
  const nodes = [expression];
  let sums = 0;
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (node.kind === 'call') assertFunction(node, use);
    if (node.kind === 'variable' && !rules.variables.test(node.name))
      throw new NotAllowed(`there is no %${node.name.slice(0, 64)}; there are ${rules.variableNames}`, node);
    if (node.kind === 'binary' && (node.operator === '+' || node.operator === '&') && ++sums > rules.maxSums)
      throw new NotAllowed(`there are more than ${rules.maxSums} "+" and "&"`, node);
    nodes.push(...childNodesOf(node));
  }
}

/**
 * Refuses a pattern that RE2 cannot compile; otherwise the error would come only with the first text.
 * @throws NotAllowed
 */
function assertPattern({ name, arguments: [pattern] }: Expression & { kind: 'call' }): void {
  if (!/^matches(Full)?$/.test(name) || pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return;
  const fault = patternFaultOf(pattern.value);
  if (fault !== undefined) throw new NotAllowed(`the pattern ${fault}`, pattern);
}

function assertFunction(node: Expression & { kind: 'call' }, use: Use): void {
  const { name, arguments: given } = node;
  const allowed = FUNCTIONS.get(name);
  if (allowed?.uses.includes(use) !== true) {
    const near = nearestCode(name, allowedFunctions(use));
    const hint = near === undefined ? '' : `; do you mean ${near}()?`;
    throw new NotAllowed(`${RULES[use].name} have no function ${name.slice(0, 64)}()${hint}`, node);
  }
  const { least, most } = allowed;
  if (given.length >= least && given.length <= most) {
    assertPattern(node);
    return;
  }
  const range = least === most ? String(least) : `${least} to ${most}`;
  throw new NotAllowed(`${name}() takes ${range} arguments, not ${given.length}`, node);
}
