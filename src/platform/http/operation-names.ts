import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { OPERATION_NAMES } from './route-access';

/** The ids of all Operations that an AccessPolicy can link to: those of routes, and those that registries add. */
@Injectable()
export class OperationNames {
  private readonly added = new Set<string>();
  private ofRoutes: readonly string[] | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /** Adds an id, for a route that serves the handlers of a registry. */
  add(name: string): void {
    this.added.add(name);
  }

  all(): ReadonlySet<string> {
    this.ofRoutes ??= this.discovery.getControllers().flatMap(({ metatype }) => this.namesOn(metatype));
    return new Set([...this.ofRoutes, ...this.added]);
  }

  private namesOn(controller: unknown): readonly string[] {
    if (typeof controller !== 'function') return [];
    const methods = controller.prototype as Readonly<Record<string, unknown>>;
    const handlers = this.scanner.getAllMethodNames(methods).map((name) => methods[name]);
    return [controller, ...handlers].flatMap((target) =>
      typeof target === 'function' ? (this.reflector.get<string[] | undefined>(OPERATION_NAMES, target) ?? []) : [],
    );
  }
}
