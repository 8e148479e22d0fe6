import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type IRouter } from 'express';

/** The routes of the server, read from Express after the start. */
@Injectable()
export class Routes {
  constructor(private readonly host: HttpAdapterHost) {}

  /** The methods of `path` for the header `Allow`. Handlers for all methods only refuse requests, and do not count. */
  methodsOf(path: string): string[] {
    const { router } = this.host.httpAdapter.getInstance<{ router: IRouter }>();
    const methods = router.stack.flatMap(({ route }) => {
      if (route === undefined || !covers(stepsOf(route.path), stepsOf(path))) return [];
      const handled = new Set(route.stack.map(({ method }) => method.toUpperCase()));
      return handled.size === 1 ? [...handled] : [];
    });
    return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
  }
}

const stepsOf = (path: string): readonly string[] => path.replace(/\/$/, '').split('/');

/**
 * Whether the pattern of a route covers a path. The first two segments must be equal, so that `/:type/:id` and
 * `/fhir/:type` do not cover other paths.
 */
const covers = (routed: readonly string[], steps: readonly string[]): boolean =>
  routed.length === steps.length &&
  routed.every((step, index) => step === steps[index] || (index > 2 && step.startsWith(':')));
