import { applyDecorators, type Type } from '@nestjs/common';
import { Type as InstanceOf } from 'class-transformer';
import { IsObject, Matches, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { dateSpanOf } from '../fhir/instant';

/** Lets a param be left out; null is not the same as that. */
export const IfSent = (): PropertyDecorator => ValidateIf((_params, value) => value !== undefined);

/** Asks for an object of the shape of `shape`. Nested checks alone would let an empty array pass. */
export const IsShapedLike = (shape: Type<object>): PropertyDecorator =>
  applyDecorators(
    IsObject(),
    ValidateNested(),
    InstanceOf(() => shape),
  );

/** http://hl7.org/fhir/R4/datatypes.html#id */
export const IsResourceId = (): PropertyDecorator =>
  Matches(/^[A-Za-z0-9.-]{1,64}$/, { message: '$property has 1 to 64 letters, digits, "-" or "."' });

/** http://hl7.org/fhir/R4/datatypes.html#dateTime */
export const IsDateTime = (): PropertyDecorator =>
  ValidateBy({
    name: 'isDateTime',
    validator: {
      validate: (value) => typeof value === 'string' && dateSpanOf(value) !== undefined,
      defaultMessage: () => '$property must be a date and time such as 2025-02-11T09:14:07Z',
    },
  });
