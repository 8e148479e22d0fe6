import { isPrimitiveType } from '../../fhir/definitions/definitions';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause } from '../query/search-query';
import { hintOf, literalRegex, pathText, systemTests, type ValuePath, valuePathsOf } from './json-path';

/**
 * Reads `:i`, which finds the code in any case; a system is a URI, whose case matters. Token rows hold hashes of the
 * codes as written, so the stored texts are tested instead.
 */
export function caselessClauseOf(
  parameter: SearchParameter,
  name: string,
  { code, system }: { readonly code: string; readonly system?: string },
): SearchClause {
  const paths = valuePathsOf(parameter, name).flatMap((value) => pathsTo(value, code, system));
  return { kind: 'body', paths, ...hintOf(code) };
}

function pathsTo({ path, type }: ValuePath, code: string, system: string | undefined): readonly string[] {
  const of = (member: 'code' | 'value'): string =>
    `? (${[equals(`@.${member}`, code), ...systemTests(system)].join(' && ')})`;
  const itself = system === undefined || system === '' ? [`${path} ? (${equals('@', code)})`] : [];
  switch (type) {
    case 'CodeableConcept':
      return [`${path}.coding ${of('code')}`];
    case 'Coding':
      return [`${path} ${of('code')}`];
    case 'Identifier':
    case 'ContactPoint':
      return [`${path} ${of('value')}`];
    default:
      return type !== undefined && isPrimitiveType(type)
        ? itself
        : [...itself, `${path}.coding ${of('code')}`, `${path} ${of('code')}`, `${path} ${of('value')}`];
  }
}

/** JSON path condition of a code in any case. A boolean is no text, so it is compared as a value. */
function equals(item: string, code: string): string {
  const test = `${item} like_regex ${pathText(`^${literalRegex(code)}$`)} flag "i"`;
  return /^(true|false)$/i.test(code) ? `(${test} || ${item} == ${code.toLowerCase()})` : test;
}
