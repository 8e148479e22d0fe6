import { localKey, parseReference } from '../../fhir/reference';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type LinkKey, type ReferenceClause, type SearchClause } from '../query/search-query';
import { bodyClauseOf, pathText, systemTests } from './json-path';
import { type SearchScope, type SentParameter } from './search-scope';
import { assertFew, assertType, invalid, splitOutsideEscapes, unescaped, unsupportedModifier } from './values';

/**
 * Reads `Type/id`, a URL or an id, with `:Type`, `:identifier` or `:not`
 * (http://hl7.org/fhir/R4/search.html#reference).
 */
export function referenceClauseOf(sent: SentParameter, scope: SearchScope): SearchClause {
  const { parameter, modifier, name, values } = sent;
  switch (modifier) {
    case 'identifier':
      assertFew(name, values);
      return bodyClauseOf(parameter, name, ({ path }) =>
        values.map((value) => `${path}.identifier ? (${identifierTestOf(name, value)})`),
      );
    case 'not':
      return { kind: 'not', clause: linkClauseOf(parameter, undefined, values, scope) };
    default:
      if (modifier !== undefined && !/^[A-Z]/.test(modifier))
        throw unsupportedModifier(name, ['[type]', 'identifier', 'not', 'missing']);
      if (modifier !== undefined) assertTarget(parameter, modifier, name, scope);
      return linkClauseOf(parameter, modifier, values, scope);
  }
}

/** @throws ServiceError 'invalid' if the parameter cannot refer to `type` */
function assertTarget(parameter: SearchParameter, type: string, name: string, { parameters }: SearchScope): void {
  assertType(name, type, parameters);
  const { narrowedTo, targets } = parameter;
  const possible = narrowedTo === undefined ? targets : [narrowedTo];
  if (possible.length > 0 && !possible.includes(type)) throw invalid(name, `leads to ${possible.join(', ')} only`);
}

function linkClauseOf(
  parameter: SearchParameter,
  typeName: string | undefined,
  values: readonly string[],
  scope: SearchScope,
): ReferenceClause {
  const keys = values.flatMap((value) => keysOf(parameter, typeName, unescaped(value), scope));
  const links = keys.flatMap((key) => linksTo(parameter, scope.hashes.ofTarget(key)));
  const [key = ''] = keys;
  const isOnePatient = keys.length === 1 && key.startsWith('Patient/') && identifiesPatient(parameter, scope);
  return { kind: 'reference', links, ...(isOnePatient ? { patientHash: scope.hashes.ofTarget(key) } : {}) };
}

const linksTo = ({ storedAs }: SearchParameter, targetHash: number): LinkKey[] =>
  storedAs.map((parameterId) => ({ targetHash, parameterId }));

/** Whether the parameter holds the patient that token rows of the type also hold. */
export function identifiesPatient({ storedAs }: SearchParameter, { type, parameters }: SearchScope): boolean {
  const patient = parameters.patientParameter(type)?.storedAs;
  return patient?.length === 1 && storedAs.length === 1 && storedAs[0] === patient[0];
}

function keysOf(
  { code, narrowedTo, targets }: SearchParameter,
  typeName: string | undefined,
  value: string,
  { baseUrl, type }: SearchScope,
): readonly string[] {
  const target = parseReference(value, baseUrl);
  if (target?.kind === 'contained')
    throw invalid(code, 'takes no contained resource: it is searched with its container');
  const named = narrowedTo ?? typeName;
  if (target?.kind === 'local' && named !== undefined && target.type !== named)
    throw invalid(
      typeName === undefined ? code : `${code}:${typeName}`,
      `takes an id of a ${named}, and not a reference to another type`,
    );
  if (target !== undefined) return [target.key];
  const types = named === undefined ? targets : [named];
  if (types.length === 0 || !/^[A-Za-z0-9.-]{1,64}$/.test(value)) {
    throw invalid(`${type}.${code}`, 'takes a reference such as Patient/p7');
  }
  return types.map((one) => localKey(one, value));
}

/** JSON path condition of the identifier `system|value`. */
function identifierTestOf(name: string, text: string): string {
  const [first = '', second] = splitOutsideEscapes(text, '|').map(unescaped);
  const [system, value] = second === undefined ? [undefined, first] : [first, second];
  const conditions = [...(value === '' ? [] : [`@.value == ${pathText(value)}`]), ...systemTests(system)];
  if (conditions.length === 0) throw invalid(name, 'takes system|value');
  return conditions.join(' && ');
}
