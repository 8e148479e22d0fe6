import { printRecords, type SourceResource } from './source-package';

interface SearchParameter extends SourceResource {
  readonly code: string;
  readonly base?: readonly string[];
  readonly type: string;
  readonly expression?: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

const about =
  'SearchParameters of R4, sorted by id. url is http://hl7.org/fhir/SearchParameter/ + id. ' +
  'Left out: those without a base (they belong to no type) and the examples of the SearchParameter page.';

/** Keeps of each SearchParameter what indexing and searching need. */
export function compactSearchParameters(parameters: readonly SearchParameter[]): string {
  const records = parameters
    .filter(({ id, base }) => base !== undefined && base.length > 0 && !/^example(-|$)/.test(id))
    .map(({ id, code, base, type, expression, target, component }) => ({
      id,
      code,
      base,
      type,
      expression,
      target,
      component: component?.map((part) => ({ definition: part.definition, expression: part.expression })),
    }));
  return printRecords({ about }, 'parameters', records);
}
