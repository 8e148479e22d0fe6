import { isR4ResourceType, isSubtype, type SearchParameterKind } from '../../fhir/definitions/definitions';
import { type Branch } from '../../fhirpath/fhirpath';

/**
 * The data types that parameters of each kind index; their subtypes count too
 * (http://hl7.org/fhir/R4/search.html#table). NativeReference is `{resourceType, id}` of types that R4 does not define.
 */
const TYPES: Readonly<Partial<Record<SearchParameterKind, readonly string[]>>> = {
  number: ['integer', 'decimal'],
  date: ['date', 'dateTime', 'instant', 'Period', 'Timing'],
  string: ['string', 'HumanName', 'Address'],
  token: ['CodeableConcept', 'Coding', 'Identifier', 'ContactPoint', 'boolean', 'string', 'uri', 'integer', 'decimal'],
  reference: ['Reference', 'NativeReference', 'canonical', 'uri'],
  quantity: ['Quantity', 'Money', 'Range', 'SampledData', 'integer', 'decimal'],
  uri: ['uri'],
};

/**
 * Whether a parameter of `kind` can index the values of a path; true if the type of the values is unknown, as that of
 * an element `Any` of a module.
 */
export function holdsValuesOf(kind: SearchParameterKind, { type }: Branch): boolean {
  if (type === undefined || type === 'Any') return true;
  if (kind === 'reference' && isR4ResourceType(type)) return true;
  return TYPES[kind]?.some((known) => isSubtype(type, known)) ?? false;
}
