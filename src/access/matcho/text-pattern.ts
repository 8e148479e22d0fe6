import { policyFault } from '../policy/policy-fault';
import { valueAt } from '../request/paths';
import { isRequestPart, type RequestPart } from '../request/access-request';
import { LinearRegex } from '../../platform/text/linear-regex';
import { failed, isEqual, isNil, type Pattern } from './matcho-pattern';

/**
 * Compiles a text inside a pattern: `#regex`, `.path`, `present?`, `nil?`, `not-blank?`, or a text that the value must
 * equal.
 * @param reads collects the parts of the request that paths read
 */
export function textPattern(text: string, path: string, reads: Set<RequestPart>): Pattern {
  if (text.startsWith('#')) return regexPattern(text.slice(1), path);
  if (text.startsWith('.')) return pathPattern(text.slice(1).split('.'), path, reads);
  const literal = LITERALS.get(text);
  if (literal !== undefined) return (value) => (literal.is(value) ? undefined : failed(path, literal.reason));
  if (/^[a-z-]+\?$/.test(text))
    throw policyFault(path, `is "${text}", which means nothing; known: ${[...LITERALS.keys()].join(', ')}`);
  return (value) => (value === text ? undefined : failed(path, 'must equal the text of the policy'));
}

const LITERALS = new Map([
  ['present?', { is: (value: unknown) => !isNil(value), reason: 'must be present' }],
  ['nil?', { is: (value: unknown) => isNil(value), reason: 'must be absent' }],
  [
    'not-blank?',
    {
      is: (value: unknown) => typeof value === 'string' && value.trim() !== '',
      reason: 'must be a text that is not blank',
    },
  ],
]);

function regexPattern(source: string, path: string): Pattern {
  const regex = LinearRegex.compile(source);
  if (typeof regex === 'string') throw policyFault(path, regex);
  return (value, run) => {
    run.step();
    const isMatch = typeof value === 'string' && regex.isIn(value);
    return isMatch ? undefined : failed(path, 'must match the regular expression');
  };
}

/**
 * Compiles `.path`: the value must equal the value at this path of the request. If both are missing they are equal, so
 * policies add `present?`.
 */
function pathPattern(steps: readonly string[], path: string, reads: Set<RequestPart>): Pattern {
  const [part = ''] = steps;
  if (!isRequestPart(part)) throw policyFault(path, `refers to "${part}", which is no part of the request`);
  // `session.role` is a list, so such a path leads to nothing. It would match each request without the compared value.
  if (/^session,role,[^\d]/.test(String(steps)))
    throw policyFault(
      path,
      'reads members of session.role, which is a list. Put the Role into criteria, such as ' +
        '"Patient?_id={{session.role.links.patient.id}}", which reads all of them',
    );
  reads.add(part);
  return (value, run) =>
    isEqual(value, valueAt(run.request, steps), run) ? undefined : failed(path, `must equal .${steps.join('.')}`);
}
