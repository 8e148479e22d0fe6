import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type IRouter } from 'express';

/** What the server answers to, as Express knows it when it has started. */
@Injectable()
export class Routes {
  private known: ReadonlySet<string> | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  /**
   * Whether a handler of its own takes `method` on `path`; one that takes any method only refuses.
   * @param path as it is routed, without a trailing slash: `/fhir/:type/:id`
   */
  has(method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string): boolean {
    this.known ??= new Set(this.list());
    return this.known.has(`${method} ${path}`);
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
