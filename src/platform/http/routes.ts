import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type IRouter } from 'express';

/** The routes of the server, read from Express after the start. */
@Injectable()
export class Routes {
  private known: ReadonlySet<string> | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  /**
   * Whether a handler for `method` exists on `path`. Handlers for all methods do not count, since they only refuse
   * requests.
   * @param path the pattern of the route, without a trailing slash: `/fhir/:type/:id`
   */
  has(method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string): boolean {
    this.known ??= new Set(this.list());
    return this.known.has(`${method} ${path}`);
  }

  /**
   * Returns the methods for which handlers exist on `path`, for the header `Allow`. Handlers for all methods do not
   * count.
   */
  methodsOf(path: string): string[] {
    this.known ??= new Set(this.list());
    const steps = path.replace(/\/$/, '').split('/');
    const methods = [...this.known]
      .map((route) => route.split(' '))
      .filter(([, routed = '']) => covers(routed.split('/'), steps))
      .map(([method = '']) => method.toUpperCase());
    return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
  }

  private list(): string[] {
    const { router } = this.host.httpAdapter.getInstance<{ router: IRouter }>();
    return router.stack.flatMap(({ route }) => {
      if (route === undefined) return [];
      const methods = new Set(route.stack.map(({ method }) => method));
      return methods.size === 1 ? [...methods].map((method) => `${method} ${route.path.replace(/\/$/, '')}`) : [];
    });
  }
}

/**
 * Whether the pattern of a route covers a path. The first two segments must be equal, so that `/:type/:id` and
 * `/fhir/:type` do not cover other paths.
 */
const covers = (routed: readonly string[], steps: readonly string[]): boolean =>
  routed.length === steps.length &&
  routed.every((step, index) => step === steps[index] || (index > 2 && step.startsWith(':')));
