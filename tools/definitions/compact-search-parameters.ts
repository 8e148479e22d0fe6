import { isDeepStrictEqual } from 'node:util';
import { type SearchParameterDefinition, type SharedMembers } from '../../src/fhir/definitions/definitions';
import { expandSearchParameter, MEMBERS } from '../../src/fhir/definitions/search-parameter-resources';
import { printRecords, type SourceResource } from './source-package';

interface SearchParameter extends SourceResource {
  readonly code: string;
  readonly base?: readonly string[];
  readonly type: SearchParameterDefinition['type'];
  readonly expression?: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
  readonly publisher?: string;
  readonly contact?: readonly unknown[];
}

const about =
  'SearchParameters of R4, sorted by id, with all members except those that follow from others: url is http://hl7.org/fhir/SearchParameter/ + id, ' +
  'name is code, xpath is expression as XPath, common and ofKind (of the type) hold for all; a record that says otherwise wins, and null ' +
  'stands for none. A number as publisher or target counts in publishers or targets. ' +
  'Left out: those without a base (they belong to no type) and the examples of the SearchParameter page.';

/** A list of more targets is stored once and shared: the list of all types makes up half of HL7's text. */
const LONG_LIST = 100;

/** Keeps each SearchParameter whole: {@link expandSearchParameter} restores it. */
export function compactSearchParameters(parameters: readonly SearchParameter[]): string {
  const kept = parameters.filter(
    ({ id, base }) => base !== undefined && base.length > 0 && !/^example(-|$)/.test(id),
  ) as (SearchParameter & { readonly base: readonly string[] })[];
  const shared = sharedOf(kept);
  const targets = distinct(kept.map(({ target = [] }) => target).filter(({ length }) => length > LONG_LIST));
  const records = kept.map((parameter) => {
    const record = compact(parameter, shared);
    const list = targets.findIndex((one) => isDeepStrictEqual(one, record.target));
    return list < 0 ? record : { ...record, target: list };
  });
  return printRecords({ about, ...shared, targets }, 'parameters', records);
}

function sharedOf(parameters: readonly SearchParameter[]): SharedMembers {
  const ofKind = (kinds: readonly string[], members: object): [string, object][] =>
    kinds.map((kind) => [kind, members]);
  const comparator = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'sa', 'eb', 'ap'];
  const first = parameters[0];
  return {
    common: Object.fromEntries(
      ['extension', 'version', 'status', 'experimental', 'date', 'xpathUsage'].map((name) => [name, first?.[name]]),
    ),
    ofKind: Object.fromEntries([
      ...ofKind(['date', 'number', 'quantity'], { comparator }),
      ...ofKind(['composite'], { multipleOr: false }),
    ]) as SharedMembers['ofKind'],
    publishers: distinct(
      parameters.flatMap(({ publisher, contact = [] }) => (publisher === undefined ? [] : [{ publisher, contact }])),
    ),
  };
}

function compact(
  parameter: SearchParameter & { readonly base: readonly string[] },
  shared: SharedMembers,
): SearchParameterDefinition {
  const { id, code, base, type, expression, target, component } = parameter;
  const publisher = shared.publishers.findIndex(
    (one) => one.publisher === parameter.publisher && isDeepStrictEqual(one.contact, parameter.contact),
  );
  const definition = {
    ...{ id, code, base, type },
    ...(expression === undefined ? {} : { expression }),
    ...(target === undefined ? {} : { target }),
    ...(component === undefined ? {} : { component }),
    ...(publisher < 0 ? {} : { publisher }),
  };
  const expanded = expandSearchParameter(definition, shared);
  const others = MEMBERS.filter((name) => !isDeepStrictEqual(expanded[name], parameter[name]));
  const record = { ...definition, ...Object.fromEntries(others.map((name) => [name, parameter[name] ?? null])) };
  if (!isDeepStrictEqual(expandSearchParameter(record, shared), { ...parameter }))
    throw new Error(`SearchParameter ${id} has members that are not kept`);
  return record;
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
