import { type RequestTrial } from 'svc-health-client';

/** The answer to a described request, in words. */
export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
}

export function verdictOf({ decision, policies, request, note = '' }: RequestTrial): Verdict {
  // Whatever the policies say, nobody can log in.
  if (note.startsWith('There is no active'))
    return { tone: 'bad', title: 'Refused with 401', text: 'Nobody can send this request.' };
  if (!decision.granted)
    return {
      tone: 'bad',
      title: 'Refused with 403',
      text:
        policies.length === 0
          ? 'No policy covers this request, and without a policy nothing is granted.'
          : 'None of the policies that cover it grants it. Each fails at the clause below.',
    };
  if (decision.rows === 'all')
    return {
      tone: 'good',
      title: 'Granted',
      text: `The policy ${decision.by ?? ''} grants it without a limit to some resources.`,
    };
  if (decision['finds-resource'] === false)
    return request['request-method'] === 'get' || request['request-method'] === 'head'
      ? {
          tone: 'bad',
          title: 'Hidden: answered with 404',
          text: 'The request is granted, but only for some resources, and this is not one of them. So the answer is the same as for a resource that does not exist.',
        }
      : {
          tone: 'bad',
          title: 'Refused: not one of the granted resources',
          text: 'The request is granted, but only for some resources, and the stored one is not one of them.',
        };
  return {
    tone: decision['finds-resource'] === true ? 'good' : 'warn',
    title: decision['finds-resource'] === true ? 'Granted' : 'Granted for some resources',
    text:
      decision['finds-resource'] === true
        ? 'Policies limit it to some resources, and this is one of them.'
        : 'The answer holds only what the criteria below find.',
  };
}
