import { type OnModuleInit } from '@nestjs/common';
import { type DiscoveryService } from '@nestjs/core';
import { StartError } from '../errors/start-error';
import { nameHandler, handlerNameOf } from './handler-calls';

interface Registered<Meta, Handler> {
  readonly meta: Meta;
  readonly handler: Handler;
}

/**
 * Collects all providers that have `decorator`, by key. If two have the same key, the server does not start. Modules of
 * other teams extend the server through this class (docs/how-to/extend.md).
 */
export abstract class HandlerRegistry<Meta, Handler extends object> implements OnModuleInit {
  private readonly handlers = new Map<string, Registered<Meta, Handler>>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly decorator: ReturnType<typeof DiscoveryService.createDecorator<Meta>>,
    private readonly keyOf: (meta: Meta, handler: Handler) => string,
  ) {}

  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders({ metadataKey: this.decorator.KEY })) {
      const meta = this.discovery.getMetadataByDecorator(this.decorator, wrapper) as Meta;
      const handler = wrapper.instance as Handler;
      nameHandler(handler, wrapper.host?.name);
      const key = this.keyOf(meta, handler);
      const taken = this.handlers.get(key);
      if (taken !== undefined) {
        const by = `by ${handlerNameOf(taken.handler)} and by ${handlerNameOf(handler)}`;
        throw new StartError(`${this.constructor.name}: "${key}" is registered twice, ${by}`);
      }
      this.handlers.set(key, { meta, handler });
    }
  }

  find(key: string): Registered<Meta, Handler> | undefined {
    return this.handlers.get(key);
  }

  all(): readonly Registered<Meta, Handler>[] {
    return [...this.handlers.values()];
  }
}
