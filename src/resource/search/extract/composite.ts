import { type Branch } from './branch';
import { type CompositePart } from './composite-rows';
import { compilePart } from './expression';
import { ExpressionError } from '../../../fhir/fhirpath/expression';
import { type ComponentDefinition, type ParameterDefinition } from './parameter-definition';
import { type ComponentCode, type Composite, type CompositeItem } from './search-parameter';

/**
 * Compiles a composite for one resource type.
 * @param branches the ways to its items
 * @throws ExpressionError for parts that have no rows: three of them, or dates and texts of items that repeat
 */
export function compileComposite(
  { components }: ParameterDefinition,
  branches: readonly Branch[],
  resourceType: string,
): Composite {
  const [first, second, ...others] = components;
  if (first === undefined || second === undefined || others.length > 0)
    throw new ExpressionError('only composites of two parts are supported');

  const codes: Composite['codes'] = [codeOf(first), codeOf(second)];
  const [firstKind, secondKind] = [rowKindOf(first), rowKindOf(second)];
  if (firstKind === undefined || secondKind === undefined) {
    if (branches.every(({ steps }) => steps.length === 0)) return { codes };
    throw new ExpressionError(
      `composites of ${first.kind} and ${second.kind} are supported for the whole resource only`,
    );
  }
  const items = branches.map((branch): CompositeItem => {
    const part = (definition: ComponentDefinition, kind: CompositePart['kind']): CompositePart => ({
      kind,
      branches: partOf(definition, branch, resourceType),
    });
    return { branch, parts: [part(first, firstKind), part(second, secondKind)] };
  });
  return { codes, rows: items };
}

function partOf({ expression }: ComponentDefinition, { type }: Branch, resourceType: string): readonly Branch[] {
  if (expression instanceof ExpressionError) throw expression;
  return compilePart(expression, type, resourceType);
}

function rowKindOf({ kind }: ComponentDefinition): CompositePart['kind'] | undefined {
  return kind === 'token' || kind === 'quantity' || kind === 'reference' ? kind : undefined;
}

const codeOf = ({ code, kind }: ComponentDefinition): ComponentCode => ({ code, kind });
