import fhirpath from 'fhirpath';

/** A node of the library's syntax tree: its grammar's rule, its children and the text of a terminal. */
export interface SyntaxNode {
  readonly type: string;
  readonly text?: string;
  readonly children?: readonly SyntaxNode[];
}

/** An expression outside of the subset that is compiled to closures; the FHIRPath library evaluates it instead. */
export class UncompilableError extends Error {
  override readonly name = 'UncompilableError';
}

/** Wrappers of the grammar that mean their only child. */
const WRAPPERS = new Set(['EntireExpression', 'TermExpression', 'InvocationTerm', 'LiteralTerm', 'ParenthesizedTerm']);

/** @throws Error when `expression` is no FHIRPath (http://hl7.org/fhirpath/N1/grammar.html). */
export function parseFhirPath(expression: string): SyntaxNode {
  return fhirpath.parse(expression) as SyntaxNode;
}

/** The node that a chain of wrappers holds. */
export function unwrap(node: SyntaxNode): SyntaxNode {
  let inner = node;
  while (WRAPPERS.has(inner.type) && inner.children?.[0] !== undefined) inner = inner.children[0];
  return inner;
}

/** @throws UncompilableError when there is no such child */
export function childOf(node: SyntaxNode, index: number): SyntaxNode {
  const child = node.children?.[index];
  if (child === undefined) throw new UncompilableError(`${node.type} has no part ${index}`);
  return child;
}

/** The arguments of a FunctionInvocation. */
export function argumentsOf(call: SyntaxNode): readonly SyntaxNode[] {
  return childOf(call, 0).children?.find(({ type }) => type === 'ParamList')?.children ?? [];
}

/** `'it\'s'` → `it's` (http://hl7.org/fhirpath/N1/#string). */
export function stringOf(literal: string): string {
  return literal.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_all, escape: string) => {
    if (escape.startsWith('u')) return String.fromCharCode(parseInt(escape.slice(1), 16));
    return ESCAPES[escape] ?? escape;
  });
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** `FHIR.Quantity` → `Quantity`; the System types are named like FHIR's primitives but for their first letter. */
export function typeNameOf(node: SyntaxNode): string {
  const name = (node.text ?? '').replace(/^(FHIR|System)\./, '').replaceAll('`', '');
  if (!/^[A-Za-z0-9]+$/.test(name)) throw new UncompilableError('a type name is expected');
  return /^(Boolean|String|Integer|Decimal)$/.test(name) ? name.toLowerCase() : name;
}
