import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/request/granted-rows';
import { ServiceError } from '../platform/errors/service-error';
import { referenceTargetOf } from '../fhir/reference';
import { isObject, memberOf } from '../platform/json/plain-object';
import { RequestContext } from '../platform/request/request-context';
import { EntryAccesses } from '../resource/access/entry-access.registry';
import { type RpcMethodDefinition } from './rpc-method';
import { RpcRegistry } from './rpc.registry';

/** Decides each call by the policies, which see its method and params. This happens before any other check. */
@Injectable()
export class RpcAccess {
  constructor(
    private readonly access: EntryAccesses,
    private readonly registry: RpcRegistry,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Returns the rows that a call may read and write. It is also called if the body cannot be read as a call: a caller
   * without any right gets the denial, not the errors of the body.
   * @throws ServiceError 'forbidden'
   */
  async grant(call?: unknown): Promise<GrantedRows> {
    const { method: sent, params } = isObject(call) ? call : {};
    const method = typeof sent === 'string' ? sent : '';
    const known = this.registry.find(method)?.meta;
    const target = known === undefined ? {} : calledTarget(known, params);
    // The text of an unknown method may be anything, so it is not recorded.
    if (known !== undefined) this.requests.noteCall({ operationId: 'rpc', rpc: { method }, ...target });
    const rpc = { method, params };
    return this.access.grant({ operationId: 'rpc', method: 'POST', url: 'rpc', ...target, body: () => undefined, rpc });
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

/** The resource that a call is about. Its params are not validated yet. */
function calledTarget({ target = {} }: RpcMethodDefinition, params: unknown): { type?: string; id?: string } {
  const { param = 'target', type } = target;
  const sent = param.split('.').reduce(memberOf, params);
  const { id, resourceType } = isObject(sent) ? sent : { id: sent };
  const found = referenceTargetOf({ resourceType: type ?? resourceType, id }, '');
  return found?.kind === 'local' ? { type: found.type, id: found.id } : {};
}
