import { Injectable, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { OPERATION_NAMES } from './route-access';

/** The methods of a controller, which have the metadata of their decorators. */
export function handlersOf({ prototype }: Type): readonly object[] {
  const methods = prototype as Readonly<Record<string, object>>;
  return new MetadataScanner().getAllMethodNames(methods).flatMap((name) => methods[name] ?? []);
}

/** The ids by which policies link to the routes of a controller. */
export const operationIdsOf = (controller: Type): readonly string[] =>
  [controller, ...handlersOf(controller)].flatMap(
    (target) => (Reflect.getMetadata(OPERATION_NAMES, target) as readonly string[] | undefined) ?? [],
  );

/** The ids of all Operations that an AccessPolicy can link to: those of routes, and those that registries add. */
@Injectable()
export class OperationNames {
  private readonly added = new Set<string>();
  private ofRoutes: readonly string[] | undefined;

  constructor(private readonly discovery: DiscoveryService) {}

  /** Adds an id, for a route that serves the handlers of a registry. */
  add(name: string): void {
    this.added.add(name);
  }

  all(): ReadonlySet<string> {
    this.ofRoutes ??= this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (metatype === null ? [] : operationIdsOf(metatype as Type)));
    return new Set([...this.ofRoutes, ...this.added]);
  }
}
