import {
  r4ResourceTypes,
  type SearchParameterDefinition,
  type SearchParameterKind,
  searchParameterDefinitions,
} from '../../fhir/definitions/definitions';
import { type OwnSearchParameter } from './search-parameter';
import { type Expression, ExpressionError, parseExpression } from '../../fhirpath/fhirpath';

/** A search parameter for one type: its expression is parsed but not yet compiled for the type. */
export interface ParameterDefinition {
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly expression: Expression | ExpressionError;
  readonly targets: readonly string[];
  readonly components: readonly ComponentDefinition[];
  /** Whether this server defines the parameter; false for parameters of HL7. */
  readonly isOwn: boolean;
  /** Whether a stored SearchParameter defines the parameter; false for parameters of HL7 and of modules. */
  readonly isLive: boolean;
}

/**
 * A component of a composite: the parameter whose values the component holds, and the path to these values from the
 * item of the composite.
 */
export interface ComponentDefinition {
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly expression: Expression | ExpressionError;
}

/**
 * The definitions of each resource type in a fixed order: HL7's by id, then those of this server in the given order. A
 * definition of this server replaces HL7's definition of the same code.
 */
export function definitionsByType(
  own: readonly OwnSearchParameter[],
  ownTypes: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, ParameterDefinition>> {
  const types = [...r4ResourceTypes(), ...ownTypes, ...own.map(({ type }) => type)];
  const byType = new Map(types.map((type) => [type, new Map<string, ParameterDefinition>()]));
  parsedOfHl7 ??= searchParameterDefinitions().map((hl7) => ({ base: hl7.base, definition: definitionOfHl7(hl7) }));
  for (const { base, definition } of parsedOfHl7) {
    for (const type of base.flatMap((name) => typesOfBase(name, types)))
      byType.get(type)?.set(definition.code, definition);
  }
  for (const parameter of own) byType.get(parameter.type)?.set(parameter.code, ownDefinitionOf(parameter, false));
  return byType;
}

/** HL7's definitions, which a process parses once: one that runs specs starts many servers. */
let parsedOfHl7: readonly { readonly base: readonly string[]; readonly definition: ParameterDefinition }[] | undefined;

function definitionOfHl7(hl7: SearchParameterDefinition): ParameterDefinition {
  const { id, code, type: kind, expression, target: targets = [] } = hl7;
  const parsed = parse(id === POSITION ? 'number' : kind, expression);
  return { code, kind, expression: parsed, targets, components: componentsOf(hl7), isOwn: false, isLive: false };
}

export function ownDefinitionOf(parameter: OwnSearchParameter, isLive: boolean): ParameterDefinition {
  const { code, kind, targets = [], components = [] } = parameter;
  const expression = parse(kind, parameter.expression);
  const parts = components.map((part) => ({ ...part, expression: parse(part.kind, part.expression) }));
  return { code, kind, expression, targets, components: parts, isOwn: true, isLive };
}

function componentsOf({ id, component = [] }: SearchParameterDefinition): readonly ComponentDefinition[] {
  const parts = component.map(({ definition, expression }) => {
    const found = searchParameterDefinitions().find((other) => definition.endsWith(`/${other.id}`));
    if (found === undefined) throw new Error(`SearchParameter ${id} names ${definition}, which is not known`);
    return { code: found.code, kind: found.type, expression: parse('token', expression) };
  });
  // R4 swaps the component expressions of one parameter (`relatesto: code`, `relation: target`).
  const isCrossed = id === 'DocumentReference-relationship';
  return isCrossed ? parts.map((part, at) => ({ ...part, expression: (parts[1 - at] ?? part).expression })) : parts;
}

/** The id of the only parameter of kind "special" whose values are indexed. */
const POSITION = 'Location-near';

/**
 * The types that a base of a SearchParameter means. Binary, Bundle and Parameters are no DomainResources, but count as
 * such here. This does no harm: the only parameter of DomainResource is `_text`, which has no index.
 */
function typesOfBase(base: string, types: readonly string[]): readonly string[] {
  return base === 'Resource' || base === 'DomainResource' ? types : [base];
}

function parse(kind: SearchParameterKind, expression: string | undefined): Expression | ExpressionError {
  if (expression === undefined) return new ExpressionError('it has no expression');
  if (kind === 'special') return new ExpressionError('each parameter of kind "special" has a different meaning');
  try {
    return parseExpression(expression);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}
