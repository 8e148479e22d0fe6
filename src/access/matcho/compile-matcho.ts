import { TooCostly } from '../../platform/errors/too-costly';
import { isObject, memberOf } from '../../platform/json/plain-object';
import { type FailedClause } from '../policy/policy-engine';
import { policyFault } from '../policy/policy-fault';
import { isRequestPart, type RequestObject, type RequestPart } from '../request/access-request';
import { failed, isNil, MatchRun, type Pattern } from './matcho-pattern';
import { OPERATORS } from './operator-pattern';
import { textPattern } from './text-pattern';

/** Maximum depth of a pattern. Bodies of requests are never deeper. */
const MAX_DEPTH = 64;

/** Maximum number of members and items in one pattern. */
const MAX_NODES = 2000;

export interface CompiledMatcho {
  readonly parts: ReadonlySet<RequestPart>;
  readonly match: (request: RequestObject) => FailedClause | undefined;
}

/**
 * Compiles a pattern of the request object. A scalar must be equal. An object must contain the members of the pattern.
 * The items of a list in the pattern are compared with the first items of the list in the request (ADR 0021).
 * @param path the position of the pattern in the policy
 * @throws ServiceError 'unprocessable' for a pattern that would match differently than it looks
 */
export function compileMatcho(pattern: unknown, path: string, baseUrl: string): CompiledMatcho {
  if (!isObject(pattern) || Object.keys(pattern).length === 0)
    throw policyFault(
      path,
      'must be an object with a pattern of the request; what covers every request has the engine allow',
    );
  const parts = new Set<RequestPart>();
  const compiled = new MatchoCompiler(baseUrl, parts).compileRequest(pattern, path);
  return {
    parts,
    match: (request) => {
      try {
        return compiled(request, new MatchRun(request));
      } catch (error) {
        if (error instanceof TooCostly) return failed(path, 'the request is too large to be compared');
        throw error;
      }
    },
  };
}

class MatchoCompiler {
  private nodes = 0;

  constructor(
    private readonly baseUrl: string,
    private readonly parts: Set<RequestPart>,
  ) {}

  /**
   * Compiles the outermost level of the pattern. Its members must be parts of the request. The members of patterns
   * inside a `$one-of` or `$not` at this level must be parts of the request too.
   */
  compileRequest(pattern: unknown, path: string): Pattern {
    this.noteParts(pattern, path);
    return this.compile(pattern, path, 0);
  }

  private noteParts(pattern: unknown, path: string): void {
    if (!isObject(pattern)) throw policyFault(path, 'must be an object with a pattern of the request');
    for (const [name, below] of Object.entries(pattern)) {
      const at = `${path}.${name}`;
      if (isRequestPart(name)) this.parts.add(name);
      else if (name === '$not') this.noteParts(below, at);
      else if (name === '$one-of' && Array.isArray(below))
        below.forEach((one, i) => {
          this.noteParts(one, `${at}[${i}]`);
        });
      else throw policyFault(at, 'is no part of the request object');
    }
  }

  private compile(pattern: unknown, path: string, depth: number): Pattern {
    if (++this.nodes > MAX_NODES || depth > MAX_DEPTH) throw policyFault(path, 'is too large a pattern');
    if (typeof pattern === 'string') return textPattern(pattern, path, this.parts);
    if (isNil(pattern)) return (value) => (isNil(value) ? undefined : failed(path, 'must be absent'));
    if (Array.isArray(pattern)) return this.listPattern(pattern, path, depth);
    if (isObject(pattern)) return this.objectPattern(pattern, path, depth);
    return (value) => (value === pattern ? undefined : failed(path, 'must equal the value of the policy'));
  }

  private listPattern(items: readonly unknown[], path: string, depth: number): Pattern {
    const patterns = items.map((item, at) => this.compile(item, `${path}[${at}]`, depth + 1));
    return (value, run) => {
      run.step();
      if (!Array.isArray(value) || value.length < patterns.length)
        return failed(path, `must be a list of at least ${patterns.length} items`);
      return firstFailure(patterns, (pattern, at) => pattern(value[at], run));
    };
  }

  private objectPattern(members: Readonly<Record<string, unknown>>, path: string, depth: number): Pattern {
    const names = Object.keys(members);
    if ('$one-of' in members && names.length > 1)
      throw policyFault(path, 'has other members next to $one-of, which must be the only one');
    const operators = names
      .filter((name) => name.startsWith('$'))
      .map((name) => this.operator(name, members, path, depth));
    const plain = names
      .filter((name) => !name.startsWith('$'))
      .map((name) => ({ name, pattern: this.compile(members[name], `${path}.${name}`, depth + 1) }));
    const isObjectNeeded = operators.length === 0;
    return (value, run) => {
      run.step();
      if (isObjectNeeded && !isObject(value)) return failed(path, 'must be an object');
      return (
        firstFailure(operators, (operator) => operator(value, run)) ??
        firstFailure(plain, ({ name, pattern }) => pattern(memberOf(value, name), run))
      );
    };
  }

  private operator(name: string, members: Readonly<Record<string, unknown>>, path: string, depth: number): Pattern {
    const at = `${path}.${name}`;
    const make = OPERATORS.get(name);
    if (make === undefined) throw policyFault(at, `is unknown; known: ${[...OPERATORS.keys()].join(', ')}`);
    const compile = (pattern: unknown, below: string): Pattern => this.compile(pattern, below, depth + 1);
    return make(members[name], { path: at, baseUrl: this.baseUrl, compile });
  }
}

function firstFailure<T>(
  patterns: readonly T[],
  failureOf: (pattern: T, at: number) => FailedClause | undefined,
): FailedClause | undefined {
  for (const [at, pattern] of patterns.entries()) {
    const failure = failureOf(pattern, at);
    if (failure !== undefined) return failure;
  }
  return undefined;
}
