import { type Type } from '@nestjs/common';
import { type ValidationError, validate } from 'class-validator';
import { didYouMean, nearestCode } from '../platform/text/nearest-code';
import { isObject } from '../platform/json/plain-object';
import { ParamsShape } from './params-shape';
import { type RpcHandler } from './rpc-method';
import { type ParamError, invalidParams } from './rpc-refusal';

/**
 * Makes an instance of a method's params class from the sent params, without members that the class does not declare.
 * @throws RpcRefusal that names every invalid member
 */
export async function checkedParams(
  paramsClass: Type<object> | undefined,
  handler: RpcHandler<object, unknown>,
  sent: unknown,
): Promise<object> {
  if (!isObject(sent)) throw invalidParams({ path: [], message: 'params must be an object' });
  const shape = paramsClass === undefined ? undefined : ParamsShape.of(paramsClass);
  const params = shape === undefined ? sent : shape.instanceOf(sent);
  const errors = shape === undefined ? [] : await validate(params, { whitelist: true, stopAtFirstError: true });
  const faults = [
    ...errors.flatMap((error) => paramErrorsOf(error, [])),
    ...(shape === undefined ? [] : misspelt(shape, sent)),
    ...(handler.faultsOf?.(sent) ?? []),
  ];
  if (faults.length > 0) throw invalidParams(...faults);
  return params;
}

function paramErrorsOf(
  { property, value, constraints = {}, children = [] }: ValidationError,
  parents: readonly string[],
): ParamError[] {
  const path = [...parents, property];
  const [message] = value === undefined ? [`${property} is required`] : Object.values(constraints);
  const own = message === undefined ? [] : [{ path, message }];
  return [...own, ...children.flatMap((child) => paramErrorsOf(child, path))];
}

/** Maximum number of unknown members that are compared. A caller who sends more has not misspelt a name. */
const MAX_LOOKED_AT = 100;

/**
 * Reports unknown members whose name may be a misspelt name of a missing param: the value would be lost silently. Other
 * unknown members are ignored.
 */
function misspelt({ names }: ParamsShape, sent: Readonly<Record<string, unknown>>): ParamError[] {
  const absent = [...names].filter((name) => !Object.hasOwn(sent, name));
  return Object.keys(sent)
    .filter((name) => !names.has(name))
    .slice(0, MAX_LOOKED_AT)
    .flatMap((name) => {
      const meant = nearestCode(name, absent);
      return meant === undefined ? [] : [{ path: [name], message: `no such param.${didYouMean(meant)}` }];
    });
}
