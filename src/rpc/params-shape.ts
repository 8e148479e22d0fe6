import { type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { isObject } from '../platform/json/plain-object';

/**
 * The members that a params class declares. Only these members are copied from the sent params, so that unknown members
 * cost nothing.
 */
export class ParamsShape {
  private static readonly known = new WeakMap<Type<object>, ParamsShape>();

  readonly names: ReadonlySet<string>;
  readonly nested: ReadonlyMap<string, { readonly memberClass: Type<object>; readonly isList: boolean }>;

  private constructor(private readonly paramsClass: Type<object>) {
    const checks = getMetadataStorage().getTargetValidationMetadatas(paramsClass, '', false, false);
    // class-validator lists inherited members last; the document has them first, as a class is read.
    const inherited = checks.filter(({ target }) => target !== paramsClass);
    this.names = new Set([...inherited, ...checks].map(({ propertyName }) => propertyName));
    const nested = checks.filter(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
    // Only class-transformer has the classes of nested members: it makes an instance of each.
    const empty = Object.fromEntries(nested.map(({ propertyName }) => [propertyName, {}]));
    const instances = plainToInstance(paramsClass, empty) as Readonly<Record<string, object>>;
    this.nested = new Map(
      nested.map(({ propertyName, each }) => [
        propertyName,
        { memberClass: instances[propertyName]?.constructor as Type<object>, isList: each },
      ]),
    );
  }

  static of(paramsClass: Type<object>): ParamsShape {
    const shape = ParamsShape.known.get(paramsClass) ?? new ParamsShape(paramsClass);
    ParamsShape.known.set(paramsClass, shape);
    return shape;
  }

  /** Makes an instance of the params class from the sent members, for the decorators of the class to validate. */
  instanceOf(sent: Readonly<Record<string, unknown>>): object {
    const params: object = new this.paramsClass();
    for (const name of this.names) {
      if (Object.hasOwn(sent, name)) Object.assign(params, { [name]: this.valueOf(name, sent[name]) });
    }
    return params;
  }

  private valueOf(name: string, value: unknown): unknown {
    const nested = this.nested.get(name);
    if (nested === undefined) return value;
    const memberOf = (one: unknown): unknown =>
      isObject(one) ? ParamsShape.of(nested.memberClass).instanceOf(one) : one;
    if (!Array.isArray(value)) return memberOf(value);
    // A list was sent where one object is declared. It becomes an empty list, which is refused: class-validator would
    // validate the items of a filled list instead of refusing it.
    return nested.isList ? value.map(memberOf) : [];
  }
}
