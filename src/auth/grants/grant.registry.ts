import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { type Grant, GrantOf } from './grant';

@Injectable()
export class Grants extends HandlerRegistry<string, Grant> {
  constructor(discovery: DiscoveryService) {
    super(discovery, GrantOf, (grantType) => grantType);
  }
}
