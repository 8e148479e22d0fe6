import { METHODS } from 'node:http';
import { isObject } from '../../platform/json/plain-object';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { policyFault } from './policy-fault';

const REQUEST_METHODS = METHODS.map((method) => method.toLowerCase());

/** The names that a request can have. */
export interface MatchableNames {
  readonly types: readonly string[];
  readonly operations: readonly string[];
}

/**
 * Refuses a method, resource type, operation or header name in `matcho` that no request has, also inside the rules of
 * `complex`. Such a policy would never grant, although it looks as if it did. In `$not` it would grant everything. It
 * is checked only when a policy is stored, so policies of older releases stay as they are.
 * @throws ServiceError 'unprocessable'
 */
export function assertMatchable(rule: unknown, names: MatchableNames, path = ''): void {
  if (!isObject(rule)) return;
  for (const list of ['and', 'or'])
    if (Array.isArray(rule[list]))
      rule[list].forEach((below, at) => {
        assertMatchable(below, names, `${path}${list}[${at}].`);
      });
  if (rule.engine !== 'matcho' || !isObject(rule.matcho)) return;
  const { 'request-method': method, uri, params, operation, headers } = rule.matcho;
  assertConstants(method, `${path}matcho.request-method`, REQUEST_METHODS);
  if (constantsIn(uri).some((value) => /^https?:/.test(String(value))))
    throw policyFault(`${path}matcho.uri`, 'is a URL: a request has only its path, such as "/fhir/Patient"');
  if (isObject(params)) assertConstants(params['resource/type'], `${path}matcho.params.resource/type`, names.types);
  if (isObject(operation)) assertConstants(operation.id, `${path}matcho.operation.id`, names.operations);
  for (const name of isObject(headers) ? Object.keys(headers) : [])
    assertConstants(name, `${path}matcho.headers`, [name.toLowerCase()]);
}

/** The texts of a pattern, also inside its operators. */
const constantsIn = (pattern: unknown): readonly unknown[] =>
  isObject(pattern) ? Object.values(pattern).flatMap(constantsIn) : [pattern].flat();

function assertConstants(pattern: unknown, path: string, known: readonly string[]): void {
  for (const value of constantsIn(pattern)) {
    // Skips regular expressions, paths and conditions: `#…`, `.…`, `present?`.
    if (typeof value !== 'string' || /^[#.]|\?$/.test(value) || known.includes(value)) continue;
    const hint = didYouMean(nearestCode(value, known));
    throw policyFault(path, `is "${value.slice(0, 64)}", which no request has`, hint);
  }
}
