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

  /** @throws ServiceError 'not-found' for anything that is no resource type that can be stored. */
  assertKnown(type: string): void {
    if (isR4ResourceType(type)) return;
    const own = this.find(type)?.meta;
    if (own === undefined) {
      throw new ServiceError(
        'not-found',
        `No such route: "${type.slice(0, 64)}" is not a resource type of this server.`,
      );
    }
    if (own.isSentOnly === true) {
      throw new ServiceError(
        'not-found',
        `No such route: ${type} stands in what this server sends, and is never stored.`,
      );
    }
  }

  /** @throws ServiceError 'not-found' for anything that is no resource type, stored or sent. */
  assertDescribed(type: string): void {
    if (this.find(type)?.meta.isSentOnly !== true) this.assertKnown(type);
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

  isNative(type: string): boolean {
    return this.find(type)?.meta.isNative ?? false;
  }

  /** Those that are not of R4, and are stored. */
  own(): readonly OwnResourceType[] {
    return this.described().filter(({ isSentOnly }) => isSentOnly !== true);
  }

  /** Those that are not of R4, with those that are only sent. */
  described(): readonly OwnResourceType[] {
    return this.all()
      .map(({ meta }) => meta)
      .filter(({ type }) => !isR4ResourceType(type));
  }

  names(): readonly string[] {
    return [...r4ResourceTypes(), ...this.own().map(({ type }) => type)].sort();
  }
}
