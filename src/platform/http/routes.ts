import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type IRouter } from 'express';

/** The routes of the server, as Express has them after the start. */
@Injectable()
export class Routes {
  private known: ReadonlySet<string> | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  /**
   * Whether a specific handler accepts `method` on `path`. Handlers for any method do not count, since they only
   * refuse.
   * @param path as routed, without a trailing slash: `/fhir/:type/:id`
   */
  has(method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string): boolean {
    this.known ??= new Set(this.list());
    return this.known.has(`${method} ${path}`);
  }

  /** Methods that specific handlers accept on `path`, for `Allow`; handlers for any method do not count. */
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
 * The first two segments of a routed path must be equal, so that `/:type/:id` and `/fhir/:type` cover no other path.
 */
const covers = (routed: readonly string[], steps: readonly string[]): boolean =>
  routed.length === steps.length &&
  routed.every((step, index) => step === steps[index] || (index > 2 && step.startsWith(':')));
