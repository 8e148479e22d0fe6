import { type Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { ParamsShape } from '../rpc/params-shape';
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
  const { names, nested } = ParamsShape.of(paramsClass);
  const checks: readonly Check[] = getMetadataStorage().getTargetValidationMetadatas(paramsClass, '', false, false);
  const required: string[] = [];
  const properties: Record<string, Schema> = {};
  for (const name of names) {
    const own = checks.filter(({ propertyName }) => propertyName === name);
    if (!own.some(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION)) required.push(name);
    const memberClass = nested.get(name)?.memberClass;
    const item = memberClass === undefined ? schemaOfChecks(own) : paramsSchema(memberClass, [...outer, paramsClass]);
    const isList = own.some(({ each, name: check }) => each === true || check === 'isArray');
    properties[name] = { ...(isList ? { type: 'array', items: item } : item), ...openness(paramsClass, name) };
  }
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

const schemaOfChecks = (checks: readonly Check[]): Schema =>
  withType(
    Object.assign({}, ...checks.map(({ name = '', constraints = [] }) => SCHEMAS[name]?.(constraints))) as Schema,
  );

const withType = (schema: Schema): Schema =>
  'enum' in schema && schema.type === undefined ? { type: typeof schema.enum[0], ...schema } : schema;

function openness(paramsClass: Type<object>, name: string): Schema {
  const metadata = Reflect.getMetadata('swagger/apiModelProperties', paramsClass.prototype as object, name) as
    { readonly additionalProperties?: boolean } | undefined;
  return metadata?.additionalProperties === true ? { additionalProperties: true } : {};
}
