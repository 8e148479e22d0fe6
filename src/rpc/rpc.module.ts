import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Echo } from './echo';
import { EntryAccessModule } from '../resource/access/entry-access.module';
import { RpcAccess } from './rpc-access';
import { RpcDispatcher } from './rpc-dispatcher';
import { RpcErrors } from './rpc-errors';
import { KeptCalls } from './repeats/kept-calls';
import { RpcController } from './rpc.controller';
import { RpcRegistry } from './rpc.registry';

/** The route `POST /rpc`. It finds the methods of all modules by their decorator. */
@Module({
  imports: [DiscoveryModule, EntryAccessModule],
  controllers: [RpcController],
  providers: [RpcRegistry, RpcAccess, RpcDispatcher, RpcErrors, KeptCalls, Echo],
  exports: [RpcRegistry],
})
export class RpcModule {}
