import { type SearchParameterDefinition } from '../../fhir/definitions/definitions';
import { definitionOfUrl } from '../../fhir/definitions/search-parameter-resources';
import { rowKindOf } from '../../search-index/extract/composite';
import { holdsValuesOf } from '../../search-index/extract/kind-types';
import { type OwnComponent, type OwnSearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { MAX_EXPRESSION, badElement, excerpt } from './refusal';
import {
  type Branch,
  CompilationBudget,
  compilePart,
  compilePaths,
  ExpressionError,
  parseExpression,
  RESOURCE_STEP,
  type Step,
} from '../../fhirpath/fhirpath';

/** The version with which HL7's definitions may be referenced (http://hl7.org/fhir/R4/references.html#canonical). */
const VERSION = '|4.0.1';

/**
 * Reads the components of a composite. They must be two parameters of HL7 that are defined for all types of the
 * composite.
 * @throws ServiceError 'unprocessable' that names the component at fault
 */
export function readComponents(component: unknown, base: readonly string[]): readonly OwnComponent[] {
  if (!Array.isArray(component) || component.length !== 2)
    throw badElement('component', 'must have two parts: composites of others cannot be indexed');
  return component.map((part: unknown, index) => readComponent(part, `component[${index}]`, base));
}

function readComponent(part: unknown, member: string, base: readonly string[]): OwnComponent {
  const { definition, expression } = (part ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof definition !== 'string') throw badElement(`${member}.definition`, 'must name a SearchParameter');
  const url = definition.endsWith(VERSION) ? definition.slice(0, -VERSION.length) : definition;
  const found = definitionOfUrl(url);
  if (found === undefined)
    throw badElement(
      `${member}.definition`,
      `names ${excerpt(definition)}, but parts can only be SearchParameters of HL7 R4`,
    );
  if (found.type === 'composite' || found.type === 'special')
    throw badElement(`${member}.definition`, `names a parameter of type ${found.type}, which cannot be a part`);
  const stranger = base.find((type) => !isOf(type, found));
  if (stranger !== undefined)
    throw badElement(`${member}.definition`, `names ${found.code}, which ${stranger} does not have`);
  if (typeof expression !== 'string' || expression.length > MAX_EXPRESSION)
    throw badElement(`${member}.expression`, `must be FHIRPath of ${MAX_EXPRESSION} characters at most`);
  return { code: found.code, kind: found.type, expression };
}

const isOf = (type: string, { base }: SearchParameterDefinition): boolean =>
  [type, 'Resource', 'DomainResource'].some((name) => base.includes(name));

/**
 * Checks that all values of each component are also values of the parameter that it names. If the two parameters are
 * searched independently, the reverse is required too: all values of the parameter must be values of the component. So
 * a composite finds exactly what its definition says.
 * @throws ServiceError 'unprocessable' that names the component at fault
 */
export function assertPairs(
  { type, kind, expression, components = [] }: OwnSearchParameter,
  set: SearchParameterSet,
): void {
  if (kind !== 'composite') return;
  const items = compiled('expression', type, () => compilePaths(parseExpression(expression), type));
  const isInRows = components.every((part) => rowKindOf(part) !== undefined);
  for (const [index, part] of components.entries()) {
    const member = `component[${index}].expression`;
    const branches = compiled(member, type, () => branchesOfPart(part, items, type));
    const known = set.find(type, part.code);
    if (known === undefined || known.storedAs.length === 0)
      throw badElement(`component[${index}].definition`, `names ${part.code}, which has no index that could be paired`);
    if (part.kind === 'reference' && branches.some((branch) => branch.type !== 'Reference'))
      throw badElement(member, `leads to a canonical or uri of ${type}; references alone can be paired`);
    const wanted = new Set(known.branches.map(({ steps }) => dotted(steps)));
    const given = branches.map(({ steps }) => dotted(steps));
    const isAmong = branches.every(({ steps }) => wanted.has(dotted(steps)) || wanted.has(dotted(memberSteps(steps))));
    if (!isAmong) throw badElement(member, `leads to values that are not those of ${type}.${part.code}`);
    if (!isInRows && [...wanted].some((path) => !given.includes(path)))
      throw badElement(
        member,
        `must lead to all values of ${type}.${part.code} (${[...wanted].join(', ')}), since both parts are searched side by side`,
      );
  }
}

/** Paths from the resource to the values of a component, through each item of the composite. */
function branchesOfPart({ kind, expression }: OwnComponent, items: readonly Branch[], type: string): readonly Branch[] {
  const parsed = parseExpression(expression);
  const budget = new CompilationBudget();
  return items.flatMap((item) => {
    const parts = compilePart(parsed, item.type, type).filter((part) => holdsValuesOf(kind, part));
    budget.spend(parts.length);
    return parts.map((part) => {
      const [first, ...others] = part.steps;
      return { ...part, steps: first === RESOURCE_STEP ? others : [...item.steps, ...part.steps] };
    });
  });
}

function compiled(member: string, type: string, compile: () => readonly Branch[]): readonly Branch[] {
  try {
    const branches = compile();
    if (branches.length > 0) return branches;
  } catch (error) {
    if (error instanceof ExpressionError) throw badElement(member, `cannot be indexed for ${type}: ${error.message}`);
    throw error;
  }
  throw badElement(member, `leads to nothing of ${type} that could be indexed`);
}

/** The steps of a path without its conditions, which only reduce the values. */
const memberSteps = (steps: readonly Step[]): readonly Step[] => steps.filter(({ member }) => member !== undefined);

const dotted = (steps: readonly Step[]): string => steps.map(({ text }) => text).join('.');
