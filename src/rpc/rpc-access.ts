import { Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/errors/service-error';
import { EntryAccesses } from '../resource/entry-access.registry';

/** Asks the policies for each call by its method and params, before anything else is told about it. */
@Injectable()
export class RpcAccess {
  constructor(private readonly access: EntryAccesses) {}

  /**
   * For one call, or for a body that holds none: whoever may call nothing is told so before what is wrong with it.
   * @throws ServiceError 'forbidden'
   */
  async assertGranted(call?: unknown): Promise<void> {
    const { method, params } = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>;
    const rpc = { method: typeof method === 'string' ? method : '', params };
    await this.access.assertGranted({ operationId: 'rpc', method: 'POST', url: 'rpc', resource: () => undefined, rpc });
  }

  /**
   * The refusal of each call, undefined where it is granted.
   * @throws ServiceError 'forbidden' when none of them is granted
   */
  async refusalsOf(calls: readonly unknown[]): Promise<readonly (ServiceError | undefined)[]> {
    const refusals: (ServiceError | undefined)[] = [];
    for (const call of calls.length === 0 ? [undefined] : calls) refusals.push(await this.refusalOf(call));
    const [first] = refusals;
    if (first !== undefined && refusals.every((refusal) => refusal !== undefined)) throw first;
    return refusals;
  }

  private async refusalOf(call: unknown): Promise<ServiceError | undefined> {
    try {
      await this.assertGranted(call);
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'forbidden') return error;
      throw error;
    }
  }
}
