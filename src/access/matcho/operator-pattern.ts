import { referenceTargetOf } from '../../fhir/reference';
import { policyFault } from '../policy/policy-fault';
import { failed, type MatchRun, type Pattern } from './matcho-pattern';

export interface OperatorContext {
  readonly path: string;
  readonly baseUrl: string;
  readonly compile: (pattern: unknown, path: string) => Pattern;
}

type MakeOperator = (operand: unknown, context: OperatorContext) => Pattern;

/** The operators by name: members of a pattern that begin with a dollar sign. */
export const OPERATORS: ReadonlyMap<string, MakeOperator> = new Map<string, MakeOperator>([
  ['$enum', enumeration],
  ['$one-of', oneOf],
  ['$contains', contains],
  ['$every', every],
  ['$not', not],
  ['$reference', reference],
  ['$present-all', presentAll],
  ['$length', length],
]);

function enumeration(operand: unknown, { path }: OperatorContext): Pattern {
  const values = filledList(operand, path);
  if (!values.every((value) => ['string', 'number', 'boolean'].includes(typeof value)))
    throw policyFault(path, 'takes texts, numbers and booleans');
  const allowed = new Set(values);
  return (value) => (allowed.has(value) ? undefined : failed(path, 'must be one of the values of the policy'));
}

function oneOf(operand: unknown, { path, compile }: OperatorContext): Pattern {
  const patterns = filledList(operand, path).map((pattern, at) => compile(pattern, `${path}[${at}]`));
  return (value, run) =>
    patterns.some((pattern) => pattern(value, run) === undefined)
      ? undefined
      : failed(path, 'must match one of the patterns');
}

function contains(operand: unknown, { path, compile }: OperatorContext): Pattern {
  const pattern = compile(operand, path);
  return (value, run) =>
    Array.isArray(value) && hasMatch(value, pattern, run)
      ? undefined
      : failed(path, 'must be a list with an item that matches');
}

function every(operand: unknown, { path, compile }: OperatorContext): Pattern {
  const pattern = compile(operand, path);
  return (value, run) => {
    if (!Array.isArray(value)) return failed(path, 'must be a list');
    for (const item of value) {
      run.step();
      const failure = pattern(item, run);
      if (failure !== undefined) return failure;
    }
    return undefined;
  };
}

function not(operand: unknown, { path, compile }: OperatorContext): Pattern {
  const pattern = compile(operand, path);
  return (value, run) => (pattern(value, run) === undefined ? failed(path, 'must not match') : undefined);
}

/**
 * Compiles `$reference`: its pattern is matched with `{resourceType, id}` of a reference. The value may be a reference
 * in FHIR's or this server's form, or the text of a reference.
 */
function reference(operand: unknown, { path, baseUrl, compile }: OperatorContext): Pattern {
  const pattern = compile(operand, path);
  return (value, run) => {
    const target = referenceTargetOf(typeof value === 'string' ? { reference: value } : value, baseUrl);
    if (target?.kind !== 'local') return failed(path, 'must be a reference to a resource of this server');
    return pattern({ resourceType: target.type, id: target.id }, run);
  };
}

function presentAll(operand: unknown, { path, compile }: OperatorContext): Pattern {
  const patterns = filledList(operand, path).map((pattern, at) => compile(pattern, `${path}[${at}]`));
  return (value, run) => {
    if (!Array.isArray(value)) return failed(path, 'must be a list');
    const missing = patterns.findIndex((pattern) => !hasMatch(value, pattern, run));
    return missing < 0 ? undefined : failed(`${path}[${missing}]`, 'must match an item of the list');
  };
}

function length(operand: unknown, { path }: OperatorContext): Pattern {
  if (!Number.isInteger(operand) || Number(operand) < 0) throw policyFault(path, 'takes a whole number');
  return (value) =>
    Array.isArray(value) && value.length === operand ? undefined : failed(path, 'must be a list of that length');
}

const hasMatch = (items: readonly unknown[], pattern: Pattern, run: MatchRun): boolean =>
  items.some((item) => {
    run.step();
    return pattern(item, run) === undefined;
  });

function filledList(operand: unknown, path: string): readonly unknown[] {
  if (Array.isArray(operand) && operand.length > 0) return operand as unknown[];
  throw policyFault(path, 'takes a list that is not empty');
}
