import { type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { type Schema } from './schema';

/**
 * Metadata of one check of class-validator. The type of the library declares `constraints` as always present, but a
 * check without constraints has none.
 */
interface Check {
  readonly type: string;
  readonly propertyName: string;
  readonly name?: string | undefined;
  readonly constraints?: readonly unknown[] | undefined;
  readonly each?: boolean | undefined;
}

/** The schema of each check that a schema can express. Other checks are not in the document. */
const SCHEMAS: Readonly<Record<string, (constraints: readonly unknown[]) => object>> = {
  isString: () => ({ type: 'string' }),
  isNotEmpty: () => ({ minLength: 1 }),
  minLength: ([minLength]) => ({ minLength }),
  maxLength: ([maxLength]) => ({ maxLength }),
  matches: ([pattern]) => ({ type: 'string', ...(pattern instanceof RegExp ? { pattern: pattern.source } : {}) }),
  equals: ([value]) => (value === undefined ? { not: {} } : { enum: [value] }),
  isIn: ([values]) => ({ enum: values }),
  isEnum: ([values]) => ({ enum: Object.values(values as object) }),
  isBoolean: () => ({ type: 'boolean' }),
  isNumber: () => ({ type: 'number' }),
  isInt: () => ({ type: 'integer' }),
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
  isDateTime: () => ({ type: 'string', example: '2025-02-11T09:14:07Z' }),
  isDateString: () => ({ type: 'string' }),
  isMemberPath: () => ({ type: 'array', items: { type: 'string' } }),
};

/**
 * The schema of a class with decorators of class-validator. `@ApiProperty({ additionalProperties: true })` on a member
 * leaves its object open for other members.
 */
export function paramsSchema(paramsClass: Type<object>, outer: readonly Type<object>[] = []): Schema {
  // A class that contains itself ends the recursion here.
  if (outer.includes(paramsClass)) return { type: 'object', additionalProperties: true };
  const checks: readonly Check[] = getMetadataStorage().getTargetValidationMetadatas(paramsClass, '', false, false);
  const names = [...new Set(checks.map(({ propertyName }) => propertyName))];
  const ofName = (name: string): Check[] => checks.filter(({ propertyName }) => propertyName === name);
  const optional = names.filter((name) =>
    ofName(name).some(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION),
  );
  const nested = plainToInstance(paramsClass, Object.fromEntries(names.map((name) => [name, {}]))) as Record<
    string,
    object
  >;
  const required = names.filter((name) => !optional.includes(name));
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        { ...memberSchema(ofName(name), nested[name], [...outer, paramsClass]), ...openness(paramsClass, name) },
      ]),
    ),
  };
}

function memberSchema(checks: readonly Check[], instance: object | undefined, outer: readonly Type<object>[]): Schema {
  const isList = checks.some(({ each, name }) => each === true || name === 'isArray');
  const isNested = checks.some(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
  const item = isNested
    ? paramsSchema(instance?.constructor as Type<object>, outer)
    : (Object.assign({}, ...checks.map(({ name = '', constraints = [] }) => SCHEMAS[name]?.(constraints))) as Schema);
  return isList ? { type: 'array', items: item } : withType(item);
}

const withType = (schema: Schema): Schema =>
  'enum' in schema && schema.type === undefined ? { type: typeof schema.enum[0], ...schema } : schema;

function openness(paramsClass: Type<object>, name: string): Schema {
  const told = Reflect.getMetadata('swagger/apiModelProperties', paramsClass.prototype as object, name) as
    { readonly additionalProperties?: boolean } | undefined;
  return told?.additionalProperties === true ? { additionalProperties: true } : {};
}
