import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { isR4ResourceType, r4ResourceTypes } from '../fhir/definitions';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { ServiceError } from '../platform/errors/service-error';
import { DefinesResourceType, type OwnResourceType } from './resource-type';

/** The resource types that this server stores: those of R4 and those that modules bring. */
@Injectable()
export class ResourceTypes extends HandlerRegistry<OwnResourceType, object> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DefinesResourceType, ({ type }) => type);
  }

  /** @throws ServiceError 'not-found' for anything that is no resource type. */
  assertKnown(type: string): void {
    if (!isR4ResourceType(type) && this.find(type) === undefined) {
      throw new ServiceError(
        'not-found',
        `No such route: "${type.slice(0, 64)}" is not a resource type of this server.`,
      );
    }
  }

  /** @throws ServiceError 'not-allowed' for types that only their module writes. */
  assertWritable(type: string): void {
    this.assertKnown(type);
    if (this.isReadOnly(type)) {
      throw new ServiceError('not-allowed', `${type} is written by its own methods only, not by REST calls.`, {
        allow: ['GET', 'HEAD'],
      });
    }
  }

  isReadOnly(type: string): boolean {
    return this.find(type)?.meta.isReadOnly ?? false;
  }

  /** Those that are not of R4. */
  own(): readonly OwnResourceType[] {
    return this.all()
      .map(({ meta }) => meta)
      .filter(({ type }) => !isR4ResourceType(type));
  }

  names(): readonly string[] {
    return [...r4ResourceTypes(), ...this.own().map(({ type }) => type)].sort();
  }
}
