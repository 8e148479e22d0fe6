import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/request/granted-rows';
import { ServiceError } from '../platform/errors/service-error';
import { isObject } from '../platform/json/plain-object';
import { EntryAccesses } from '../resource/access/entry-access.registry';

/** Decides each call by the policies, which see its method and params. This happens before any other check. */
@Injectable()
export class RpcAccess {
  constructor(private readonly access: EntryAccesses) {}

  /**
   * Returns the rows that a call may read and write. It is also called if the body cannot be read as a call: a caller
   * without any right gets the denial, not the errors of the body.
   * @throws ServiceError 'forbidden'
   */
  async grant(call?: unknown): Promise<GrantedRows> {
    const { method, params } = isObject(call) ? call : {};
    const rpc = { method: typeof method === 'string' ? method : '', params };
    return this.access.grant({ operationId: 'rpc', method: 'POST', url: 'rpc', body: () => undefined, rpc });
  }

  /** Returns the granted rows of each call, or its refusal. @throws ServiceError 'forbidden' when no call is granted */
  async grantsOf(calls: readonly unknown[]): Promise<readonly (GrantedRows | ServiceError)[]> {
    const grants: (GrantedRows | ServiceError)[] = [];
    for (const call of calls.length === 0 ? [undefined] : calls) {
      const grant = this.grant(call).catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === 'forbidden') return error;
        throw error;
      });
      grants.push(await grant);
    }
    const [first] = grants;
    if (first instanceof ServiceError && grants.every((grant) => grant instanceof ServiceError)) throw first;
    return grants;
  }
}
