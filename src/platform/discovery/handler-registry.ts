import { type OnModuleInit } from '@nestjs/common';
import { type DiscoveryService } from '@nestjs/core';
import { StartError } from '../errors/start-error';
import { definitionFault, type Members } from './definition';
import { nameHandler, handlerNameOf } from './handler-calls';

interface Registered<Meta, Handler> {
  readonly meta: Meta;
  readonly handler: Handler;
}

const NOT_STATIC =
  'it has the scope of a request, or injects a provider that has. A handler is made once: remove the scope';

/**
 * Collects all providers that have `decorator`, by key. If two have the same key, or one could never work, the server
 * does not start. Modules of other teams extend the server through this class (docs/how-to/extend.md).
 */
export abstract class HandlerRegistry<Meta, Handler extends object> implements OnModuleInit {
  private readonly handlers = new Map<string, Registered<Meta, Handler>>();
  /** The remedy in the error for two providers with the same key. */
  protected readonly remedy: string = 'Rename one of both.';

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly decorator: ReturnType<typeof DiscoveryService.createDecorator<Meta>>,
    private readonly keyOf: (meta: Meta, handler: Handler) => string | undefined,
    /** The methods that each handler must have. The compiler does not compare a class with its decorator. */
    private readonly methods: readonly (keyof Handler & string)[] = [],
    /** The options of the decorator. Absent if it takes a text. */
    private readonly members?: Members<NonNullable<Meta>>,
  ) {}

  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders({ metadataKey: this.decorator.KEY })) {
      const meta = this.discovery.getMetadataByDecorator(this.decorator, wrapper) as Meta;
      const handler = wrapper.instance as Handler;
      nameHandler(handler, wrapper.host?.name);
      const malformed = this.members && definitionFault(meta, this.members);
      const fault = wrapper.isDependencyTreeStatic() ? (malformed ?? this.faultOf(meta, handler)) : NOT_STATIC;
      if (fault !== undefined) throw new StartError(`${handlerNameOf(handler)}: ${fault}.`);
      const key = this.keyOf(meta, handler);
      if (typeof key !== 'string' || key === '')
        throw new StartError(`${handlerNameOf(handler)}: its decorator gives it no name. Pass the name as a text.`);
      const taken = this.handlers.get(key);
      if (taken !== undefined) {
        const by = `by ${handlerNameOf(taken.handler)} and by ${handlerNameOf(handler)}`;
        throw new StartError(`${this.constructor.name}: "${key}" is registered twice, ${by}. ${this.remedy}`);
      }
      this.handlers.set(key, { meta, handler });
    }
  }

  /** The fault of a provider, as a sentence without its point. */
  protected faultOf(_meta: Meta, handler: Handler): string | undefined {
    const missing = this.methods.find((name) => typeof handler[name] !== 'function');
    return missing === undefined ? undefined : `it has no method "${missing}". Add it, or remove the decorator`;
  }

  find(key: string): Registered<Meta, Handler> | undefined {
    return this.handlers.get(key);
  }

  all(): readonly Registered<Meta, Handler>[] {
    return [...this.handlers.values()];
  }
}
