import { type RequestTrial } from 'svc-health-client';

/** The result of a described request, in words. */
export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
}

export function verdictOf({ decision, policies, request, note = '' }: RequestTrial): Verdict {
  const method = request['request-method'];
  const isRead = method === 'get' || method === 'head';
  const { 'finds-resource': finds, 'is-stored': isStored } = decision;
  // The described User or Client does not exist or is not active, so the request gets 401 whatever the policies say.
  if (note.startsWith('There is no active')) return { tone: 'bad', title: 'Refused with 401', text: note };
  if (!decision.granted)
    return {
      tone: 'bad',
      title: 'Refused with 403',
      text: policies.length === 0 ? note : `${noneGrants(policies.length)} It fails at the clause below.`,
    };
  if (isStored === false && isRead)
    return {
      tone: 'warn',
      title: 'Not stored: answered with 404',
      text: `There is no ${nameOf(request)}. The policies have no part in this answer.`,
    };
  if (decision.rows === 'all')
    return {
      tone: 'good',
      title: 'Granted',
      text: `The policy ${decision.by ?? ''} grants it without a limit to some resources.`,
    };
  if (finds === false && isStored === undefined)
    return { tone: 'warn', title: isRead ? 'Answered with 404' : 'Refused', text: note };
  if (finds === false && isStored === false)
    return { tone: 'warn', title: method === 'put' ? 'Not stored yet' : 'Not stored', text: note };
  if (finds === false)
    return {
      tone: 'bad',
      title: isRead
        ? `Hidden from ${callerOf(request)}: answered with 404`
        : 'Refused: not one of the granted resources',
      text: note,
    };
  return {
    tone: finds === true ? 'good' : 'warn',
    title: finds === true ? 'Granted' : 'Granted for some resources',
    text:
      finds === true
        ? 'Policies limit it to some resources, and this is one of them.'
        : 'The answer holds only what the criteria below find.',
  };
}

/** A sentence that says how many policies cover the request, and that none of them grants it. */
export const noneGrants = (count: number): string =>
  count === 1 ? 'The only policy that covers this request does not grant it.' : `None of ${count} policies grants it.`;

type Described = RequestTrial['request'];

export const callerOf = (request: Described): string =>
  [request['user-id'], request['client-id']].find((id) => typeof id === 'string') ?? 'the caller';

function nameOf({ params }: Described): string {
  const { 'resource/type': type, 'resource/id': id } = (params ?? {}) as Readonly<Record<string, string>>;
  return `${type ?? ''}/${id ?? ''}`;
}
