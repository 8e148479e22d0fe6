import { METHODS } from 'node:http';
import { isObject } from '../../platform/json/plain-object';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { policyFault } from './policy-fault';

const REQUEST_METHODS = METHODS.map((method) => method.toLowerCase());

/**
 * Refuses a method or resource type in `matcho` that no request has, also inside the rules of `complex`. Such a policy
 * would never grant, although it looks as if it did. It is checked only when a policy is stored, so policies of older
 * releases stay as they are.
 * @param types the names of all resource types
 * @throws ServiceError 'unprocessable'
 */
export function assertMatchable(rule: unknown, types: readonly string[], path = ''): void {
  if (!isObject(rule)) return;
  for (const list of ['and', 'or'])
    if (Array.isArray(rule[list]))
      rule[list].forEach((below, at) => {
        assertMatchable(below, types, `${path}${list}[${at}].`);
      });
  if (rule.engine !== 'matcho' || !isObject(rule.matcho)) return;
  const { 'request-method': method, params } = rule.matcho;
  assertConstants(method, `${path}matcho.request-method`, REQUEST_METHODS);
  if (isObject(params)) assertConstants(params['resource/type'], `${path}matcho.params.resource/type`, types);
}

function assertConstants(pattern: unknown, path: string, known: readonly string[]): void {
  const values = isObject(pattern) ? pattern.$enum : pattern;
  for (const value of [values].flat()) {
    // Skips regular expressions, paths and conditions: `#…`, `.…`, `present?`.
    if (typeof value !== 'string' || /^[#.]|\?$/.test(value) || known.includes(value)) continue;
    const hint = didYouMean(nearestCode(value, known));
    throw policyFault(path, `is "${value.slice(0, 64)}", which no request has`, hint);
  }
}
