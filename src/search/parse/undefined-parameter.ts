import { invalid } from './values';

/**
 * Parameters of R4 that this server gives no meaning of its own: the value that asks for what is done anyway is taken, any
 * other is refused, as ignoring it would answer another question (http://hl7.org/fhir/R4/search.html#contained, #query).
 * @returns whether it is one of them, and needs no more attention
 * @throws ServiceError 'invalid' that says what to ask instead
 */
export function isUndefinedHere(name: string, value: string): boolean {
  switch (name) {
    case '_contained':
      if (value === 'false') return true;
      if (value !== 'true' && value !== 'both') throw invalid(name, 'is true, false or both');
      throw invalid(
        name,
        'is supported as "false" only: contained resources have no index of their own; search their containers, for example by _content',
      );
    case '_containedType':
      if (value === 'container' || value === 'contained') return true;
      throw invalid(name, 'is container or contained');
    case '_query':
      throw invalid(
        name,
        'names no query of this server, which defines none: use its parameters, chains, _has or _filter',
      );
    default:
      return false;
  }
}
