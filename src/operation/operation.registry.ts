import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { Operation, type OperationDefinition, type OperationHandler } from './operation';

@Injectable()
export class OperationRegistry extends HandlerRegistry<OperationDefinition, OperationHandler> {
  constructor(discovery: DiscoveryService) {
    super(discovery, Operation, ({ level, resourceType, code }) => operationKey(level, code, resourceType));
  }
}

export const operationKey = (level: OperationDefinition['level'], code: string, resourceType = ''): string =>
  `${level} ${resourceType} $${code}`;
