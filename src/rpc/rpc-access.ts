import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/request/granted-rows';
import { ServiceError } from '../platform/errors/service-error';
import { EntryAccesses } from '../resource/access/entry-access.registry';

/** Asks the policies for each call by its method and params, before anything else is told about it. */
@Injectable()
export class RpcAccess {
  constructor(private readonly access: EntryAccesses) {}

  /**
   * Tells which rows a call may touch. Asked for a body without a call too: whoever may call nothing is told so before what
   * is wrong with it.
   * @throws ServiceError 'forbidden'
   */
  async grant(call?: unknown): Promise<GrantedRows> {
    const { method, params } = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>;
    const rpc = { method: typeof method === 'string' ? method : '', params };
    return this.access.grant({ operationId: 'rpc', method: 'POST', url: 'rpc', resource: () => undefined, rpc });
  }

  /**
   * The rows of each call, or its refusal.
   * @throws ServiceError 'forbidden' when none of them is granted
   */
  async grantsOf(calls: readonly unknown[]): Promise<readonly (GrantedRows | ServiceError)[]> {
    const grants: (GrantedRows | ServiceError)[] = [];
    for (const call of calls.length === 0 ? [undefined] : calls) grants.push(await this.grantOrRefusal(call));
    const [first] = grants;
    if (first instanceof ServiceError && grants.every((grant) => grant instanceof ServiceError)) throw first;
    return grants;
  }

  private async grantOrRefusal(call: unknown): Promise<GrantedRows | ServiceError> {
    try {
      return await this.grant(call);
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'forbidden') return error;
      throw error;
    }
  }
}
