import { ServiceError } from '../../platform/errors/service-error';

/**
 * Maximum length of an expression, in characters; none of HL7's is as long. It is bounded because the parser recurses
 * for each bracket, and because each write of the types evaluates the paths.
 */
export const MAX_EXPRESSION = 2_000;

/** The beginning of a client's text, for an error message. */
export const excerpt = (text: string): string => text.slice(0, 128);

/** @param member path of the element at fault below SearchParameter: `component[0].expression` */
export const badElement = (member: string, reason: string): ServiceError =>
  new ServiceError('search-parameter-invalid', `SearchParameter.${member} ${reason}.`, {
    expression: `SearchParameter.${member}`,
  });
