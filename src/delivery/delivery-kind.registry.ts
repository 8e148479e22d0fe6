import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { DeliverBy, type DeliveryKind, type DeliveryKindDefinition } from './delivery-kind';

@Injectable()
export class DeliveryKinds extends HandlerRegistry<DeliveryKindDefinition, DeliveryKind> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DeliverBy, ({ kind }) => kind);
  }
}
