import { type ErrorObject, type ValidateFunction } from 'ajv';
import { TooCostly } from '../../platform/errors/too-costly';
import { isObject, memberOf } from '../../platform/json/plain-object';
import { type ParamError } from '../../rpc/rpc-refusal';

/** A declared type of addenda: its required members, and checks of members. All others may have any value. */
export interface AddendumType {
  readonly required: readonly string[];
  readonly properties: ReadonlyMap<string, ValidateFunction>;
}

/** Returns every missing or invalid member of an addendum. */
export function faultsByType({ required, properties }: AddendumType, addendum: unknown): ParamError[] {
  const sent = isObject(addendum) ? addendum : {};
  const missing = required.filter((name) => !Object.hasOwn(sent, name));
  return [
    ...missing.map((name) => ({ path: [name], message: `${name} is required` })),
    ...[...properties].flatMap(([name, validate]) =>
      Object.hasOwn(sent, name) ? faultOf(name, memberOf(sent, name), validate) : [],
    ),
  ];
}

function faultOf(name: string, value: unknown, validate: ValidateFunction): ParamError[] {
  try {
    if (validate(value)) return [];
  } catch (error) {
    if (error instanceof TooCostly) return [{ path: [name], message: `${name} is too long for its pattern` }];
    throw error;
  }
  const path = [name, ...stepsOf(validate.errors?.[0])];
  return [{ path, message: `${path.at(-1) ?? name} ${wordsOf(validate.errors?.[0])}` }];
}

/** Splits the JSON Pointer of an error (https://www.rfc-editor.org/rfc/rfc6901) into its steps. */
const stepsOf = (error: ErrorObject | undefined): string[] =>
  (error?.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function wordsOf(error: ErrorObject | undefined): string {
  const { message = 'is wrong', params = {} } = error ?? {};
  const { allowedValues, additionalProperty } = params as Readonly<Record<string, unknown>>;
  if (Array.isArray(allowedValues)) return `${message}: ${allowedValues.map((one) => JSON.stringify(one)).join(', ')}`;
  return typeof additionalProperty === 'string' ? `${message}: "${additionalProperty.slice(0, 64)}"` : message;
}
