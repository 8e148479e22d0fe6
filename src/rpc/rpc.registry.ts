import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { type RpcHandler, RpcMethod, type RpcMethodDefinition } from './rpc-method';

@Injectable()
export class RpcRegistry extends HandlerRegistry<RpcMethodDefinition, RpcHandler<object, unknown>> {
  constructor(discovery: DiscoveryService) {
    super(discovery, RpcMethod, ({ method }) => method, ['execute'], {
      method: 'string',
      'params?': 'class',
      description: 'string',
      'enforcesRows?': 'boolean',
      'writes?': 'function',
      'target?': { members: { 'param?': 'string', 'type?': 'string' } },
      'example?': 'object',
      'exampleResult?': 'any',
      'resultSchema?': 'object',
    });
  }
}
