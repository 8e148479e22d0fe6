import fhirpath from 'fhirpath';
import { nearestCode } from '../fhir/nearest-code';

/** What the library's parser makes of an expression. */
interface SyntaxNode {
  readonly type: string;
  readonly text?: string;
  readonly start?: { readonly line: number; readonly column: number };
  readonly children?: readonly SyntaxNode[];
}

/** The library's parser takes half a second for the worst text of this length. */
const MAX_LENGTH = 2_000;

/** Each may double a text: six make 64 times of it. */
const MAX_SUMS = 6;

const VARIABLES = ['current', 'previous', 'resource', 'context', 'ucum', 'sct', 'loinc'];

/**
 * Functions that criteria may use, with their least and most arguments: the library says nothing of a wrong number, it
 * takes the answer for empty. What makes long texts or lists of short ones is not among them (`aggregate`, `replace`,
 * `toChars`, …): one that grows beyond what JavaScript can hold would end the process.
 */
const FUNCTIONS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ...named(
    `empty not allTrue anyTrue allFalse anyFalse isDistinct distinct count single first last tail upper lower length trim
     abs ceiling floor truncate toInteger toDecimal toString toDate toDateTime toTime toBoolean convertsToBoolean
     convertsToInteger convertsToDecimal convertsToString convertsToDate convertsToDateTime convertsToTime hasValue
     getValue now today timeOfDay children descendants resolve sum min max avg yearOf monthOf dayOf hourOf minuteOf
     secondOf dateOf timeOf type`,
    [0, 0],
  ),
  ...named(
    `all where select repeat extension ofType is as take skip subsetOf supersetOf combine union intersect exclude indexOf
     lastIndexOf startsWith endsWith contains`,
    [1, 1],
  ),
  ...named('exists round toQuantity convertsToQuantity', [0, 1]),
  ...named('substring matches matchesFull', [1, 2]),
  ...named('iif', [2, 3]),
]);

function named(names: string, counts: readonly [number, number]): [string, readonly [number, number]][] {
  return names.split(/\s+/).map((name) => [name, counts]);
}

/** @throws Error that says what is wrong with a criterion, and where */
export function assertCriteriaText(expression: string): void {
  if (expression.length > MAX_LENGTH) throw new Error(`it has more than ${MAX_LENGTH} characters`);
  const nodes = [parsed(expression)];
  let sums = 0;
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (node.type === 'FunctionInvocation') assertFunction(node);
    if (node.type === 'ExternalConstantTerm') assertVariable(node);
    if (node.type === 'AdditiveExpression' && node.text !== '-' && ++sums > MAX_SUMS)
      throw fault(node, `there are more than ${MAX_SUMS} "+" and "&"`);
    nodes.push(...(node.children ?? []));
  }
}

function parsed(expression: string): SyntaxNode {
  try {
    return fhirpath.parse(expression) as SyntaxNode;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const [, line, column, what] =
      /^line: (\d+); column: (\d+); message: (.*?)( expecting \{|\n|$)/s.exec(message) ?? [];
    if (what === undefined) throw new Error('it is no FHIRPath', { cause: error });
    throw new Error(`line ${line}, column ${column}: ${what}`, { cause: error });
  }
}

function assertFunction(node: SyntaxNode): void {
  const { text: name = '', children: [call] = [] } = node;
  const counts = FUNCTIONS.get(name);
  if (counts === undefined) {
    const near = nearestCode(name, FUNCTIONS.keys());
    const hint = near === undefined ? '' : `; do you mean ${near}()?`;
    throw fault(node, `criteria have no function ${name.slice(0, 64)}()${hint}`);
  }
  const given = call?.children?.find(({ type }) => type === 'ParamList')?.children?.length ?? 0;
  const [least, most] = counts;
  if (given >= least && given <= most) return;
  throw fault(node, `${name}() takes ${least === most ? least : `${least} to ${most}`} arguments, not ${given}`);
}

function assertVariable(node: SyntaxNode): void {
  if (VARIABLES.includes(node.text ?? '')) return;
  const known = VARIABLES.map((name) => `%${name}`).join(', ');
  throw fault(node, `there is no %${(node.text ?? '').slice(0, 64)}; there are ${known}`);
}

function fault({ start }: SyntaxNode, message: string): Error {
  return new Error(start === undefined ? message : `line ${start.line}, column ${start.column}: ${message}`);
}
