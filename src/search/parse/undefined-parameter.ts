import { invalid } from './values';

/**
 * Reads R4 parameters that this server does not implement. A value that requests the default behavior is accepted. Any
 * other value is refused, since ignoring it would return wrong results (http://hl7.org/fhir/R4/search.html#contained,
 * #query).
 * @returns whether the parameter is one of them, so that nothing else has to read it
 * @throws ServiceError 'invalid' that names an alternative
 */
export function isUndefinedHere(name: string, value: string): boolean {
  switch (name) {
    case '_contained':
      if (value === 'false') return true;
      if (value !== 'true' && value !== 'both') throw invalid(name, 'is true, false or both');
      throw invalid(
        name,
        'is supported as "false" only: contained resources have no index; search their containers, for example by _content',
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
