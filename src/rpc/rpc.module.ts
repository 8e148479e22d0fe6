import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Echo } from './methods/echo';
import { ResourceModule } from '../resource/resource.module';
import { RpcAccess } from './rpc-access';
import { RpcDispatcher } from './rpc-dispatcher';
import { RpcErrors } from './rpc-errors';
import { RpcController } from './rpc.controller';
import { RpcRegistry } from './rpc.registry';

/** `POST /rpc`. Methods of any module are found by their decorator. */
@Module({
  imports: [DiscoveryModule, ResourceModule],
  controllers: [RpcController],
  providers: [RpcRegistry, RpcAccess, RpcDispatcher, RpcErrors, Echo],
  exports: [RpcRegistry],
})
export class RpcModule {}
