import { invalid } from './values';

/**
 * R4 parameters that this server does not implement. The value of the default behavior is accepted. Any other is
 * refused, since ignoring it would return wrong results (http://hl7.org/fhir/R4/search.html#contained, #query).
 * @returns whether the parameter is one of them and is done
 * @throws ServiceError 'invalid' with an alternative
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
