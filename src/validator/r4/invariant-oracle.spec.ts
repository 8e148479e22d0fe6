import { describe, expect, it } from '@jest/globals';
import {
  elementsOfType,
  type InvariantDefinition,
  invariantDefinitions,
  isPrimitiveType,
  lineageOf,
} from '../../fhir/definitions/definitions';
import { compileQuestion } from '../../fhirpath/invariant';
import { questionByLibrary } from '../../fhirpath/library';
import { parseExpression } from '../../fhirpath/syntax/parse-expression';
import { CHECKED_ELSEWHERE, LEFT_OUT } from './invariant-choices';

const CASES = 60;

interface Stated {
  readonly invariant: InvariantDefinition;
  readonly path: string;
  readonly type: string;
}

const stated: readonly Stated[] = invariantDefinitions()
  .filter(({ key }) => !(key in CHECKED_ELSEWHERE) && !(key in LEFT_OUT))
  .flatMap((invariant) => invariant.on.flatMap((path) => typesAt(path).map((type) => ({ invariant, path, type }))));

describe('compiled invariants', () => {
  it.each(stated.map((one) => [one.invariant.key, one.path, one] as const))(
    '%s on %s fails for the same elements as in the FHIRPath library',
    (key, _path, { invariant, path, type }) => {
      const compiled = compileQuestion(parseExpression(invariant.expression), path, type);
      if (compiled === undefined) return;
      const library = questionByLibrary(invariant.expression, path);
      const random = randomOf(key.length * 7919 + path.length);
      const words = wordsOf(invariant.expression);
      const differing = Array.from({ length: CASES }, () => elementOf(type, random, words, 3)).filter((element) => {
        const variables = { resource: element, rootResource: element, context: element };
        // Only false is a failure. So true and empty count as equal: one side may be true where the other is empty,
        // since the FHIRPath library stops at a part that is undecided.
        return (compiled(element, variables) === false) !== (library(element, variables) === false);
      });
      expect(differing).toEqual([]);
    },
  );

  it('are all but three', () => {
    const left = stated.filter(
      ({ invariant, path, type }) => compileQuestion(parseExpression(invariant.expression), path, type) === undefined,
    );
    expect(left.map(({ invariant }) => invariant.key).sort()).toEqual(['ras-1', 'sdf-23', 'sdf-9']);
  });
});

function typesAt(path: string): readonly string[] {
  if (elementsOfType(path) !== undefined) return [path];
  const dot = path.lastIndexOf('.');
  return elementsOfType(path.slice(0, dot))?.get(path.slice(dot + 1))?.types ?? [];
}

type Random = (below: number) => number;

function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** The string literals of an expression. As values in a resource, they can change its result. */
function wordsOf(expression: string): readonly string[] {
  return [...expression.matchAll(/'([^'\\]*)'/g)].map(([, word = '']) => word).filter((word) => word !== '');
}

function elementOf(type: string, random: Random, words: readonly string[], depth: number): unknown {
  if (isPrimitiveType(type)) return primitiveOf(type, random, words);
  const made: Record<string, unknown> = lineageOf(type).includes('Resource') ? { resourceType: type } : {};
  for (const { name, isChoice, isRepeated, types } of elementsOfType(type)?.values() ?? []) {
    if (random(5) < 3 || ['contained', 'extension', 'modifierExtension', 'id', 'meta'].includes(name)) continue;
    const of = types[random(types.length)] ?? '';
    if (of === 'Resource' || (depth === 0 && !isPrimitiveType(of))) continue;
    const key = isChoice ? `${name}${of.charAt(0).toUpperCase()}${of.slice(1)}` : name;
    const values = Array.from({ length: isRepeated ? 1 + random(3) : 1 }, () =>
      elementOf(of, random, words, depth - 1),
    );
    if (isPrimitiveType(of) && !isRepeated && random(8) === 0) made[`_${key}`] = { extension: [{ url: 'http://e' }] };
    else made[key] = isRepeated ? values : values[0];
  }
  return made;
}

function primitiveOf(type: string, random: Random, words: readonly string[]): unknown {
  switch (type) {
    case 'boolean':
      return random(2) === 0;
    case 'decimal':
    case 'integer':
    case 'unsignedInt':
    case 'positiveInt':
      return random(4);
    case 'date':
    case 'dateTime':
      return `20${10 + random(3)}-0${1 + random(2)}-11`;
    case 'instant':
      return `20${10 + random(3)}-01-11T10:00:00Z`;
    case 'time':
      return '10:00:00';
    default:
      return random(3) === 0 ? `t${random(3)}` : (words[random(words.length)] ?? `w${random(2)}`);
  }
}
