import { type DynamicModule, type Type } from '@nestjs/common';
import { StartError } from '../errors/start-error';
import { nearestCode } from '../text/nearest-code';

/** The kind of a value in a definition that another team writes. A program without types may pass anything. */
export type Kind =
  | keyof typeof BASIC
  | { readonly oneOf: readonly string[] }
  | { readonly each: Kind }
  | { readonly members: Readonly<Record<string, Kind>> };

/** The kinds of all members of a definition. The name of a member that may be absent ends with `?`. */
export type Members<T> = {
  readonly [Name in keyof T & string as object extends Pick<T, Name> ? `${Name}?` : Name]-?: Kind;
};

const BASIC = {
  any: ['anything', () => true],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  class: ['a class', (value) => isClass(value)],
  function: ['a function', (value) => typeof value === 'function'],
  number: ['a number', (value) => typeof value === 'number'],
  object: ['an object', (value) => isObject(value)],
  string: ['a text', (value) => typeof value === 'string'],
  module: ['a class or a dynamic module', (value) => isModule(value)],
} satisfies Record<string, readonly [name: string, has: (value: unknown) => boolean]>;

/**
 * Checks a definition of another team.
 * @param owner what has the definition, for the message
 * @throws StartError for an unknown or missing member, and for one of another kind
 */
export function assertDefinition<T>(value: unknown, members: Members<T>, owner: string): void {
  const fault = definitionFault(value, members);
  if (fault !== undefined) throw new StartError(`${owner}: ${fault}.`);
}

/** The fault of a definition, as a sentence without its point. */
export const definitionFault = <T>(value: unknown, members: Members<T>): string | undefined =>
  faultAt('', value, { members });

function faultAt(path: string, value: unknown, kind: Kind): string | undefined {
  const wrong = `${path === '' ? 'its options' : `"${path}"`} must be ${wordsFor(kind)}, but ${isNow(value)}`;
  if (typeof kind === 'string') return BASIC[kind][1](value) ? undefined : wrong;
  if ('oneOf' in kind) return kind.oneOf.some((one) => one === value) ? undefined : wrong;
  if ('each' in kind)
    return Array.isArray(value) ? first(value.map((one, at) => faultAt(`${path}[${at}]`, one, kind.each))) : wrong;
  if (!isObject(value)) return wrong;
  const kinds = new Map(Object.entries(kind.members).map(([name, one]) => [name.replace('?', ''), one]));
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const unknown = Object.keys(value).find((name) => !kinds.has(name));
  if (unknown !== undefined) {
    const near = nearestCode(unknown, kinds.keys());
    return `"${pathOf(unknown)}" is unknown. ${near === undefined ? `Known are ${[...kinds.keys()].join(', ')}` : `Rename it to "${near}"`}`;
  }
  return first(
    [...kinds].map(([name, one]) =>
      value[name] === undefined && `${name}?` in kind.members ? undefined : faultAt(pathOf(name), value[name], one),
    ),
  );
}

const first = (faults: readonly (string | undefined)[]): string | undefined =>
  faults.find((fault) => fault !== undefined);

function wordsFor(kind: Kind): string {
  if (typeof kind === 'string') return BASIC[kind][0];
  if ('oneOf' in kind) return `one of ${kind.oneOf.join(', ')}`;
  return 'each' in kind ? 'an array' : 'an object';
}

function isNow(value: unknown): string {
  if (value === undefined) return 'is missing';
  if (Array.isArray(value)) return 'is an array';
  const [name] = Object.values(BASIC).find(([, has], at) => at > 0 && has(value)) ?? ['null'];
  return `is ${name}`;
}

export const isModule = (value: unknown): value is Type | DynamicModule =>
  isClass(isObject(value) ? value.module : value);

const isClass = (value: unknown): boolean => typeof value === 'function' && 'prototype' in value;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
