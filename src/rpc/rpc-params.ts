import { type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validate } from 'class-validator';
import { type ParamError, invalidParams } from './rpc-refusal';

/**
 * Makes an instance of a params class of what was sent, without the members that the class does not name.
 * @throws RpcRefusal that names every member at fault.
 */
export async function checkedParams(paramsClass: Type<object> | undefined, sent: unknown): Promise<object> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw invalidParams({ path: [], message: 'params must be an object' });
  }
  if (paramsClass === undefined) return sent;
  const params = plainToInstance(paramsClass, sent);
  const errors = await validate(params, { whitelist: true, stopAtFirstError: true });
  if (errors.length > 0) throw invalidParams(...errors.flatMap((error) => paramErrorsOf(error, [])));
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
