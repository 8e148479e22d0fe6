import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { OperationNames } from '../platform/http/operation-names';
import { operationIdOfCode } from '../platform/http/route-access';
import { Operation, type OperationDefinition, type OperationHandler } from './operation';

@Injectable()
export class OperationRegistry extends HandlerRegistry<OperationDefinition, OperationHandler> {
  constructor(
    discovery: DiscoveryService,
    private readonly names: OperationNames,
  ) {
    super(discovery, Operation, ({ level, resourceType, code }) => operationKey(level, code, resourceType));
  }

  override onModuleInit(): void {
    super.onModuleInit();
    for (const { meta } of this.all()) this.names.add(operationIdOfCode(meta.code));
  }
}

export const operationKey = (level: OperationDefinition['level'], code: string, resourceType = ''): string =>
  `${level} ${resourceType} $${code}`;
