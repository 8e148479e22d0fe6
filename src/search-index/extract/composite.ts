import { type CompositePart } from './composite-rows';
import { holdsValuesOf } from './kind-types';
import { type ComponentDefinition, type ParameterDefinition } from './parameter-definition';
import { type ComponentCode, type Composite, type CompositeItem, type NumberPaths } from './search-parameter';
import { type Branch, compilePart, ExpressionError, RESOURCE_STEP, type Step } from '../../fhirpath/fhirpath';

/**
 * @param branches the paths to its items
 * @throws ExpressionError for components that cannot be indexed as pairs: dates and texts of repeated items, most
 *   triples
 */
export function compileComposite(
  { components, isLive }: ParameterDefinition,
  branches: readonly Branch[],
  resourceType: string,
): Composite {
  const [first, second, third, ...others] = components;
  if (first === undefined || second === undefined || others.length > 0)
    throw new ExpressionError('only composites of two or three parts are supported');
  const kinds = components.map(({ kind }) => kind).join(', ');
  if (third !== undefined && kinds !== 'token, number, number')
    throw new ExpressionError(`composites of three parts are those of token, number, number, not of ${kinds}`);

  const codes: Composite['codes'] = [componentCode(first), componentCode(second)];
  const [firstKind, secondKind] = [rowKindOf(first), rowKindOf(second)];
  if (firstKind === undefined || secondKind === undefined) {
    if (branches.every(({ steps }) => steps.length === 0)) return { codes };
    throw new ExpressionError(
      `composites of ${first.kind} and ${second.kind} are supported for the whole resource only`,
    );
  }
  if (firstKind !== 'token' && firstKind !== 'reference')
    throw new ExpressionError(`composites begin with a token or reference, not with a ${firstKind}`);
  const items = branches.map((branch): CompositeItem => {
    const part = (definition: ComponentDefinition, kind: CompositePart['kind']): CompositePart => ({
      kind,
      branches: partOf(definition, branch, resourceType).filter((one) => holdsValuesOf(kind, one)),
    });
    const parts: CompositeItem['parts'] = [part(first, firstKind), part(second, secondKind)];
    if (third === undefined) return { branch, parts };
    return { branch, parts, numberPaths: numberPathsOf(branch, parts, part(third, 'number')) };
  });
  return {
    codes,
    rows: items,
    hasSystem: isLive,
    ...(third === undefined ? {} : { third: componentCode(third) }),
  };
}

/**
 * JSON paths to the two numbers of a triple. Index rows test the code; the paths test only the numbers. So if items
 * repeat, the code must be one of the whole resource.
 */
function numberPathsOf(item: Branch, [first, second]: CompositeItem['parts'], third: CompositePart): NumberPaths {
  const isOfResource = first.branches.every(({ steps }) => steps[0] === RESOURCE_STEP);
  if (!isOfResource && item.steps.some(({ isRepeated }) => isRepeated))
    throw new ExpressionError('the first of three parts must be that of the whole resource, where items repeat');
  return {
    item: jsonPathOf('$', item.steps),
    second: second.branches.map(({ steps }) => jsonPathOf('@', steps)),
    third: third.branches.map(({ steps }) => jsonPathOf('@', steps)),
  };
}

function jsonPathOf(root: string, steps: readonly Step[]): string {
  const paths = steps.map(({ jsonPath }) => jsonPath);
  if (paths.includes(undefined)) throw new ExpressionError('the numbers of three parts are reached by plain paths');
  return `${root}${paths.join('')}`;
}

function partOf({ expression }: ComponentDefinition, { type }: Branch, resourceType: string): readonly Branch[] {
  if (expression instanceof ExpressionError) throw expression;
  return compilePart(expression, type, resourceType);
}

/**
 * The kind of a component in the rows; undefined if rows cannot hold it. Such a component is searched independently.
 */
export function rowKindOf({ kind }: Pick<ComponentDefinition, 'kind'>): CompositePart['kind'] | undefined {
  return kind === 'token' || kind === 'quantity' || kind === 'number' || kind === 'reference' ? kind : undefined;
}

const componentCode = ({ code, kind }: ComponentDefinition): ComponentCode => ({ code, kind });
