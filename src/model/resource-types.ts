import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { elementsOfType, isR4ResourceType, r4ResourceTypes } from '../fhir/definitions/definitions';
import { type ElementTables } from '../fhir/definitions/element-tables';
import { didYouMean, nearestCode } from '../platform/text/nearest-code';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { handlerNameOf } from '../platform/discovery/handler-calls';
import { ServiceError } from '../platform/errors/service-error';
import { StartError } from '../platform/errors/start-error';
import { elementTablesOf, faultOfShape, targetsOf } from './own-shape';
import {
  DefinesResourceType,
  type OwnResourceType,
  type RefusedWrites,
  RESOURCE_TYPE,
  type WriteKind,
} from './resource-type';

/** Policies link to operations by references of this type, which has no resources. */
const OPERATION = 'Operation';

const TYPE = /^[A-Z][A-Za-z0-9]{0,63}$/;

/** A request is about a type, or about one resource of it. */
export type Place = 'type' | 'instance';

/** The resource types that this server stores: those of R4 and those registered by modules. */
@Injectable()
export class ResourceTypes extends HandlerRegistry<OwnResourceType, object> {
  /** Names in the place of a type in a path, for suggestions. Operations add theirs. */
  readonly routeNames = new Set(['_history', '_search', 'fhir', 'metadata']);
  private tables: ElementTables | undefined;

  constructor(discovery: DiscoveryService) {
    super(discovery, DefinesResourceType, ({ type }) => type, [], RESOURCE_TYPE);
  }

  /** @throws StartError if a module defines a type in a way that would have no effect */
  override onModuleInit(): void {
    super.onModuleInit();
    for (const { meta, handler } of this.all())
      for (const target of targetsOf(meta)) if (target !== OPERATION) this.assertNamed(target, handler);
  }

  protected override faultOf(meta: OwnResourceType): string | undefined {
    const { type, shape, searchParameters } = meta;
    const fault = faultOfShape(meta);
    if (fault !== undefined) return `the shape of ${type} is wrong: ${fault}`;
    if (!TYPE.test(type)) return `the type "${type}" must be a capital letter, then letters and digits, 64 at most`;
    if (!isR4ResourceType(type))
      return elementsOfType(type) === undefined && type !== OPERATION
        ? undefined
        : `the type "${type}" needs another name, since it is that of a data type or of operations`;
    if ((shape ?? searchParameters) === undefined) return undefined;
    return `R4 defines ${type}, so it gets no shape and no searchParameters here. Store a StructureDefinition or a SearchParameter instead`;
  }

  /**
   * Checks a type that a decorator of a provider names.
   * @throws StartError which names the provider, if no resource has the type
   */
  assertNamed(type: string, handler: object): void {
    if (isR4ResourceType(type) || this.find(type) !== undefined) return;
    const hint = didYouMean(nearestCode(type, this.names()), ' Correct it, or define the type.');
    throw new StartError(`${handlerNameOf(handler)} names the resource type "${type}", which is not defined.${hint}`);
  }

  /** @throws ServiceError 'not-found' unless resources of the type can be stored */
  assertKnown(type: string): void {
    if (isR4ResourceType(type)) return;
    const own = this.find(type)?.meta;
    if (own === undefined) throw this.unknownType(type.slice(0, 64));
    if (own.isSentOnly === true) {
      throw new ServiceError(
        'resource-type-unknown',
        `No such route: ${type} is only part of messages that this server sends; it is never stored.`,
      );
    }
  }

  /**
   * Checks that a type is known, whether its resources are stored or only sent.
   * @throws ServiceError 'not-found' for any other text
   */
  assertDescribed(type: string): void {
    if (this.find(type)?.meta.isSentOnly !== true) this.assertKnown(type);
  }

  /**
   * Checks that callers may write a type in this way.
   * @throws ServiceError by which the type refuses the write: 'not-allowed' or 'unprocessable'
   */
  assertWritable(type: string, write: WriteKind, place: Place): void {
    this.assertKnown(type);
    const refusal = this.refusedWrites(type)[write];
    if (refusal === undefined) return;
    const { message, kind } = refusal;
    throw kind === undefined
      ? new ServiceError('write-refused', message, { allow: this.allowedMethods(type, place) })
      : new ServiceError(kind, message);
  }

  accepts(type: string, write: WriteKind): boolean {
    return this.refusedWrites(type)[write] === undefined;
  }

  /**
   * The methods for the header `Allow`. The methods of a type are those of searches, creates and conditional writes.
   */
  allowedMethods(type: string, place: Place): readonly string[] {
    const isOfType = place === 'type';
    return [
      ...['GET', 'HEAD'],
      ...(isOfType && this.accepts(type, 'create') ? ['POST'] : []),
      ...(this.accepts(type, 'update') ? ['PUT', 'PATCH'] : []),
      ...(this.accepts(type, isOfType ? 'conditional-delete' : 'delete') ? ['DELETE'] : []),
    ];
  }

  private unknownType(type: string): ServiceError {
    const near = nearestCode(type, [...this.names(), ...this.routeNames]);
    // The name of a route is in a wrong position or with a wrong method: it is no suggestion.
    const hint = didYouMean(near === type ? undefined : near, ' GET /metadata lists those that are.');
    return new ServiceError(
      'resource-type-unknown',
      `No such route: "${type}" is not a resource type of this server.${hint}`,
    );
  }

  private refusedWrites(type: string): RefusedWrites {
    return this.find(type)?.meta.refusedWrites ?? {};
  }

  isNative(type: string): boolean {
    return this.find(type)?.meta.isNative ?? false;
  }

  /** Types that are stored but not of R4. */
  own(): readonly OwnResourceType[] {
    return this.described().filter(({ isSentOnly }) => isSentOnly !== true);
  }

  /** Types that are stored or sent, but not of R4. */
  described(): readonly OwnResourceType[] {
    return this.all()
      .map(({ meta }) => meta)
      .filter(({ type }) => !isR4ResourceType(type));
  }

  /** The elements of R4's types and of these types. They are read after the start, when all types are registered. */
  get elements(): ElementTables {
    return (this.tables ??= elementTablesOf(this.described()));
  }

  names(): readonly string[] {
    return [...r4ResourceTypes(), ...this.own().map(({ type }) => type)].sort();
  }
}
