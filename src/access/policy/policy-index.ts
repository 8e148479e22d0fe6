import { type NativeReference } from '../../fhir/types';
import { type CompiledPolicy } from './compiled-policy';
import { type AccessRequest } from '../request/access-request';
import { addTo } from '../../platform/lists-by-key';

/** Finds the policies whose links cover a request. The cost does not depend on the number of other policies. */
export class PolicyIndex {
  private readonly everybody: CompiledPolicy[] = [];
  private readonly byLink = new Map<string, CompiledPolicy[]>();

  /** @param policies the policies in the order of evaluation */
  constructor(readonly policies: readonly CompiledPolicy[]) {
    for (const policy of policies) {
      if (policy.links.length === 0) this.everybody.push(policy);
      for (const { resourceType, id } of policy.links) addTo(this.byLink, `${resourceType}/${id}`, policy);
    }
  }

  /**
   * Returns the policies that cover the request, each once: first policies with a fitting link, then policies without
   * links. A policy with `roleName` covers the request only if its User has that Role, which is not checked here.
   */
  covering(request: AccessRequest): readonly CompiledPolicy[] {
    const found: CompiledPolicy[] = [];
    for (const link of coveringLinks(request)) noteOfKind(this.byLink.get(link), request, found);
    noteOfKind(this.everybody, request, found);
    return found;
  }
}

/** The links by which a policy covers the request; none if it covers every caller. */
export function linksThatCover({ links }: CompiledPolicy, request: AccessRequest): readonly NativeReference[] {
  const covering = new Set(coveringLinks(request));
  return links.filter(({ resourceType, id }) => covering.has(`${resourceType}/${id}`));
}

function noteOfKind(policies: readonly CompiledPolicy[] = [], request: AccessRequest, found: CompiledPolicy[]): void {
  for (const policy of policies) {
    // Only a policy with several links can be found twice.
    if (isOfKind(policy, request) && !(policy.links.length > 1 && found.includes(policy))) found.push(policy);
  }
}

function coveringLinks({ caller, operationId }: AccessRequest): string[] {
  const { userId, clientId } = caller;
  return [
    // A Client that acts for a User has only the User's rights (interface specification, "Authentication", 5).
    userId === undefined ? `Client/${clientId}` : `User/${userId}`,
    ...(operationId === undefined ? [] : [`Operation/${operationId}`]),
  ];
}

/** Whether the policy is for this kind of request. A policy with `roleName` is for requests of Users. */
const isOfKind = ({ type, roleName }: CompiledPolicy, { rpc, caller }: AccessRequest): boolean =>
  (type === undefined || (type === 'rpc') === (rpc !== undefined)) &&
  (roleName === undefined || caller.userId !== undefined);
