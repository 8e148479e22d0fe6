import { isPrimitiveType } from '../../fhir/definitions/definitions';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type BodyClause } from '../query/search-query';
import { bodyClauseOf, literalRegex, pathText, systemTests, type ValuePath } from './json-path';
import { invalid } from './values';

// Token rows hold hashes of systems and codes. Other questions about tokens are answered from the stored text.

/** The place of a code in a value: the items that hold it, and its member in an item. */
interface CodePlace {
  readonly items: '' | '.coding';
  readonly member: 'code' | 'value';
}

const VALUE: CodePlace = { items: '', member: 'value' };

const PLACES: ReadonlyMap<string | undefined, CodePlace> = new Map<string, CodePlace>([
  ['CodeableConcept', { items: '.coding', member: 'code' }],
  ['Coding', { items: '', member: 'code' }],
  ['Identifier', VALUE],
  ['ContactPoint', VALUE],
]);

/** The places where values of a type may have a code: one if the type is known, none in a primitive value. */
function placesOf(type: string | undefined): readonly CodePlace[] {
  const known = PLACES.get(type);
  if (known !== undefined) return [known];
  return type !== undefined && isPrimitiveType(type) ? [] : [...new Set(PLACES.values())];
}

export function codePathOf({ path, type }: ValuePath): string {
  const place = PLACES.get(type);
  return place === undefined ? path : `${path}${place.items}.${place.member}`;
}

/** Reads `:i`, which finds the code in any case; a system is a URI, whose case matters. */
export function caselessClauseOf(
  parameter: SearchParameter,
  name: string,
  { code, system }: { readonly code: string; readonly system?: string },
): BodyClause {
  const itselfTests = system === undefined || system === '' ? [`(${equalsCaseless('@', code)})`] : [];
  return bodyClauseOf(
    parameter,
    name,
    ({ path, type }) => [
      ...(PLACES.has(type) ? [] : itselfTests.map((test) => `${path} ? ${test}`)),
      ...placesOf(type).map(({ items, member }) => {
        const tests = [equalsCaseless(`@.${member}`, code), ...systemTests(system)];
        return `${path}${items} ? (${tests.join(' && ')})`;
      }),
    ],
    code,
  );
}

/** JSON path condition of a code in any case. A boolean is no text, so it is compared as a value. */
function equalsCaseless(item: string, code: string): string {
  const test = `${item} like_regex ${pathText(`^${literalRegex(code)}$`)} flag "i"`;
  return /^(true|false)$/i.test(code) ? `(${test} || ${item} == ${code.toLowerCase()})` : test;
}

/** Reads `system|`, which finds any code of the system. */
export const systemClauseOf = (parameter: SearchParameter, system: string): BodyClause =>
  bodyClauseOf(
    parameter,
    parameter.code,
    ({ path, type }) =>
      [...new Set(placesOf(type).map(({ items }) => items))].map(
        (items) => `${path}${items} ? (@.system == ${pathText(system)})`,
      ),
    system,
  );

/** Reads `:text`: a text of a CodeableConcept, a Coding or an Identifier's type contains the value, in any case. */
export function textClauseOf(parameter: SearchParameter, name: string, text: string): BodyClause {
  if (text === '') throw invalid(name, 'has no text to look for');
  return bodyClauseOf(
    parameter,
    name,
    ({ path, type }) =>
      textMembersOf(type).map((member) => `${path}${member} ? (@ like_regex ${pathText(text)} flag "iq")`),
    text,
  );
}

function textMembersOf(type: string | undefined): readonly string[] {
  switch (type) {
    case 'CodeableConcept':
      return ['.text', '.coding.display'];
    case 'Coding':
      return ['.display'];
    case 'Identifier':
      return ['.type.text', '.type.coding.display'];
    default:
      return ['', '.text', '.display'];
  }
}

export function typedIdentifierClauseOf(
  parameter: SearchParameter,
  name: string,
  [system, code, value]: readonly [system: string, code: string, value: string],
): BodyClause {
  const type = [`@.code == ${pathText(code)}`, ...(system === '' ? [] : [`@.system == ${pathText(system)}`])];
  const condition = `@.value == ${pathText(value)} && exists(@.type.coding ? (${type.join(' && ')}))`;
  return bodyClauseOf(parameter, name, ({ path }) => [`${path} ? (${condition})`]);
}
