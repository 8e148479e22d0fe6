import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { type DiscoveryService } from '@nestjs/core';
import { StartError } from './platform/errors/start-error';
import { handlersOf, operationIdsOf } from './platform/http/operation-names';

/** First segments of pages without a controller. */
const PAGES = ['api', 'api-json', 'console', 'docs'];

interface FoundController {
  /** Class and module, for errors. */
  readonly name: string;
  readonly module: unknown;
  readonly paths: readonly { readonly method: string; readonly path: string }[];
  /** The ids by which policies link to its routes. */
  readonly ids: readonly string[];
}

/**
 * Checks the routes of modules of other teams. Express runs the first route that matches a request, so two routes of
 * one path hide each other, and a route such as `/:a/:b` hides those of all resources. A policy that links to the id of
 * a route grants all routes with this id.
 * @param coreModules the modules of the server
 * @throws StartError that names the controller
 */
export function assertModuleRoutes(discovery: DiscoveryService, coreModules: ReadonlySet<unknown>): void {
  const controllers = controllersIn(discovery);
  const own = controllers.filter(({ module }) => !coreModules.has(module));
  const core = controllers.filter(({ module }) => coreModules.has(module));
  const reserved = new Set([...PAGES, ...core.flatMap(({ paths }) => paths.map(({ path }) => firstSegmentOf(path)))]);
  const owners = new Map(core.flatMap(({ ids, name, module }) => ids.map((id) => [id, { name, module }] as const)));
  const routes = new Map<string, string>();
  for (const { name, module, paths, ids } of own) {
    for (const { method, path } of paths) {
      const first = firstSegmentOf(path);
      if (!/^[a-z][\w-]*$/.test(first) || reserved.has(first))
        throw new StartError(
          `${name}: the path "${path}" is that of the server or of resource types. Begin it with a name of your own in lower case, such as "acme/".`,
        );
      const key = path.replaceAll(/:\w+/g, ':');
      const taken = routes.get(`${method} ${key}`) ?? routes.get(`ALL ${key}`);
      if (taken !== undefined)
        throw new StartError(`${name}: the route ${method} /${path} is also that of ${taken}. Rename one of both.`);
      routes.set(`${method} ${key}`, name);
    }
    for (const id of ids) {
      const owner = owners.get(id);
      if (owner !== undefined && owner.module !== module)
        throw new StartError(
          `${name}: the id "${id}" of a route is also that of a route of ${owner.name}, so policies would grant both. Rename it.`,
        );
      owners.set(id, { name, module });
    }
  }
}

function controllersIn(discovery: DiscoveryService): readonly FoundController[] {
  return discovery.getControllers().flatMap(({ metatype, host }) => {
    if (metatype === null) return [];
    const controller = metatype as Type;
    const prefixes = routePathsOf(controller);
    return {
      name: `${controller.name} of ${host?.name ?? 'an unknown module'}`,
      module: host?.metatype,
      paths: handlersOf(controller).flatMap((handler) =>
        routePathsOf(handler).flatMap((path) =>
          prefixes.map((prefix) => ({ method: methodOf(handler), path: routePathOf(prefix, path) })),
        ),
      ),
      ids: operationIdsOf(controller),
    };
  });
}

/** The paths of a controller or handler, whose decorator takes one text or a list. */
const routePathsOf = (target: object): readonly string[] =>
  [(Reflect.getMetadata(PATH_METADATA, target) as string | readonly string[] | undefined) ?? []].flat();

const methodOf = (handler: object): string =>
  RequestMethod[(Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined) ?? RequestMethod.GET];

const routePathOf = (...parts: readonly string[]): string =>
  parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/');

/** The first segment of a path, below `/` or `/fhir`: both roots have the routes of resource types. */
const firstSegmentOf = (path: string): string => path.replace(/^fhir(\/|$)/, '').split('/')[0] ?? '';
