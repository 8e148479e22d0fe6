import { applyDecorators, type Type } from '@nestjs/common';
import { Type as InstanceOf } from 'class-transformer';
import { IsObject, Matches, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { dateSpanOf } from '../../fhir/instant';
import { faultOfCreatedType } from '../types/addendum-kinds';

/** Makes a param optional. A param that is null still counts as present. */
export const IfSent = (): PropertyDecorator => ValidateIf((_params, value) => value !== undefined);

/** Requires an object that is valid for `shape`. Without IsObject, nested validation accepts an empty array. */
export const IsShapedLike = (shape: Type<object>): PropertyDecorator =>
  applyDecorators(
    IsObject(),
    ValidateNested(),
    InstanceOf(() => shape),
  );

/** Requires a FHIR id (http://hl7.org/fhir/R4/datatypes.html#id). */
export const IsResourceId = (): PropertyDecorator =>
  Matches(/^[A-Za-z0-9.-]{1,64}$/, { message: '$property has 1 to 64 letters, digits, "-" or "."' });

const checkedBy = (
  name: string,
  isRight: (value: unknown) => boolean,
  message: (value: unknown) => string,
): PropertyDecorator =>
  ValidateBy({ name, validator: { validate: isRight, defaultMessage: (args) => `$property ${message(args?.value)}` } });

/** Keys that no stored JSON object may have (src/platform/json/compact-json.ts). */
const IMPOSSIBLE_KEYS: readonly unknown[] = ['__proto__', 'constructor', 'prototype'];
const MAX_STEPS = 64;

/** Requires a path from the root of a document to a value: a list of keys, and of indexes as decimal strings. */
export const IsMemberPath = (): PropertyDecorator =>
  checkedBy(
    'isMemberPath',
    (path) =>
      Array.isArray(path) &&
      path.length <= MAX_STEPS &&
      path.every((step) => typeof step === 'string' && !IMPOSSIBLE_KEYS.includes(step)),
    () => `must be an array of at most ${MAX_STEPS} strings that a document can have as keys`,
  );

/** Requires a FHIR dateTime (http://hl7.org/fhir/R4/datatypes.html#dateTime). */
export const IsDateTime = (): PropertyDecorator =>
  checkedBy(
    'isDateTime',
    (value) => typeof value === 'string' && dateSpanOf(value) !== undefined,
    () => 'must be a date and time such as 2025-02-11T09:14:07Z',
  );

/** Requires a type that `create-addendum` accepts. Other checks refuse values that are empty or no string. */
export const IsCreatedType = (): PropertyDecorator =>
  checkedBy(
    'isCreatedType',
    (type) => faultOf(type) === undefined,
    (type) => faultOf(type) ?? '',
  );

const faultOf = (type: unknown): string | undefined =>
  typeof type === 'string' && type !== '' ? faultOfCreatedType(type) : undefined;
