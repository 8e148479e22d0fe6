import { ServiceError } from '../../platform/errors/service-error';

/** Longer than any of HL7's: the parser descends once a bracket, and each write of the types walks the paths. */
export const MAX_EXPRESSION = 2_000;

/** What a client sent, as much of it as a refusal repeats. */
export const excerpt = (text: string): string => text.slice(0, 128);

/** @param member the path of the element at fault below SearchParameter: `component[0].expression` */
export const badElement = (member: string, reason: string): ServiceError =>
  new ServiceError('unprocessable', `SearchParameter.${member} ${reason}.`, {
    expression: `SearchParameter.${member}`,
  });
