import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from './resource-change';

type Meta = { readonly types?: readonly string[] } | undefined;

@Injectable()
export class ResourceChangeListeners extends HandlerRegistry<Meta, ResourceChangeListener> {
  constructor(discovery: DiscoveryService) {
    super(discovery, OnResourceChange, (_meta, listener) => listener.constructor.name);
  }

  /** Whether anybody wants to see changes of `type`: if not, a create is one statement without a transaction. */
  async concerns(type: string): Promise<boolean> {
    for (const listener of this.listenersOf(type)) {
      if ((await listener.concerns?.(type)) ?? true) return true;
    }
    return false;
  }

  async notify(change: ResourceChange): Promise<void> {
    for (const listener of this.listenersOf(change.type)) {
      if ((await listener.concerns?.(change.type)) ?? true) await listener.onChange(change);
    }
  }

  private listenersOf(type: string): ResourceChangeListener[] {
    return this.all()
      .filter(({ meta }) => meta?.types?.includes(type) ?? true)
      .map(({ handler }) => handler);
  }
}
