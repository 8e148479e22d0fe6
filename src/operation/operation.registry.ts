import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { OperationNames } from '../platform/http/operation-names';
import { operationIdOfCode } from '../platform/http/route-access';
import { ResourceTypes } from '../model/resource-types';
import { ANY_TYPE, Operation, type OperationDefinition, type OperationHandler } from './operation';

@Injectable()
export class OperationRegistry
  extends HandlerRegistry<OperationDefinition, OperationHandler>
  implements OnApplicationBootstrap
{
  constructor(
    discovery: DiscoveryService,
    private readonly names: OperationNames,
    private readonly types: ResourceTypes,
  ) {
    super(discovery, Operation, ({ level, resourceType, code }) => operationKey(level, code, resourceType));
  }

  override onModuleInit(): void {
    super.onModuleInit();
    for (const { meta } of this.all()) this.names.add(operationIdOfCode(meta.code));
  }

  /** @throws StartError for a misspelt type, at which nobody could call the operation */
  onApplicationBootstrap(): void {
    for (const { meta, handler } of this.all())
      if (meta.resourceType !== undefined && meta.resourceType !== ANY_TYPE)
        this.types.assertNamed(meta.resourceType, handler);
  }
}

export const operationKey = (level: OperationDefinition['level'], code: string, resourceType = ''): string =>
  `${level} ${resourceType} $${code}`;
