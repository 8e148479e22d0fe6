import { Injectable } from '@nestjs/common';
import { nearestCode } from '../../platform/text/nearest-code';
import { type NativeReference, type Resource } from '../../fhir/types';
import { OperationNames } from '../../platform/http/operation-names';
import { type ResourceDraft } from '../../model/resource-draft';
import { DefinesResourceType } from '../../model/resource-type';
import { ResourceTypes } from '../../model/resource-types';
import { ForResourceType, type ResourceRule } from '../../resource/hooks/resource-rule';
import { compilePolicy } from './compiled-policy';
import { PolicyRows } from '../criteria/policy-rows';
import { PolicyEngines } from './policy-engine.registry';
import { assertMatchable } from './matchable';
import { policyFault } from './policy-fault';

const LINKABLE = ['User', 'Client', 'Operation'];

/** All criteria of a policy are evaluated for every request that it covers. */
const MAX_CRITERIA = 32;

/**
 * Members that every policy may have. Other members are refused: if a misspelt one (`links`) were ignored, the policy
 * would grant more than intended.
 */
const COMMON_MEMBERS = [
  ...['resourceType', 'id', 'meta', 'text', 'extension'],
  ...['description', 'module', 'engine', 'link', 'roleName', 'type'],
];

/** Refuses a policy that the server would read differently than its author meant. */
@Injectable()
@DefinesResourceType({
  type: 'AccessPolicy',
  isNative: true,
  searchParameters: [
    { code: 'link', kind: 'reference', expression: 'AccessPolicy.link', targets: LINKABLE },
    { code: 'engine', kind: 'token', expression: 'AccessPolicy.engine' },
  ],
})
@ForResourceType('AccessPolicy')
export class AccessPolicyRule implements ResourceRule {
  constructor(
    private readonly engines: PolicyEngines,
    private readonly rows: PolicyRows,
    private readonly operations: OperationNames,
    private readonly types: ResourceTypes,
  ) {}

  async check({ value }: ResourceDraft): Promise<void> {
    const { members = [], isForRpc = false } = this.engines.named(value.engine);
    if (isForRpc && value.criteria !== undefined)
      throw policyFault(
        'criteria',
        `cannot limit the engine ${String(value.engine)}. The engine matcho with the pattern ` +
          `{"params": {"_m": "the method"}} takes criteria`,
      );
    assertMembers(value, [...COMMON_MEMBERS, ...(isForRpc ? [] : ['criteria']), ...members]);
    assertLinks(value.link);
    this.assertOperations(value.link ?? []);
    assertRoleName(value.roleName);
    assertType(value.type, isForRpc);
    assertCriteria(value.criteria);
    assertMatchable(value, { types: this.types.names(), operations: [...this.operations.all()] });
    const { criteria } = compilePolicy(value, this.engines);
    for (const template of criteria) await this.rows.assertSearchable(template);
  }

  /**
   * Refuses links to unknown Operations: a misspelt Operation would silently grant nothing. Policies that older
   * releases stored are not checked.
   */
  private assertOperations(links: unknown): void {
    const known = this.operations.all();
    (links as readonly NativeReference[]).forEach(({ resourceType, id }, index) => {
      if (resourceType !== 'Operation' || known.has(id)) return;
      const near = nearestCode(id, known);
      const hint =
        near === undefined ? 'docs/reference/routes.md, "Interactions", lists all' : `the nearest is "${near}"`;
      throw policyFault(`link[${index}].id`, `names no Operation of this server: "${id.slice(0, 64)}"; ${hint}`);
    });
  }
}

function assertMembers(policy: Resource, known: readonly string[]): void {
  const unknown = Object.keys(policy).find((name) => !known.includes(name));
  if (unknown !== undefined) throw policyFault(unknown, 'is not supported');
}

function assertLinks(link: unknown): void {
  if (link === undefined) return;
  if (!Array.isArray(link) || !link.every(isLink)) {
    throw policyFault('link', `must be a list of {"resourceType", "id"} of ${LINKABLE.join(', ')}`);
  }
  // An empty list looks like "nobody", but a policy without links covers everybody.
  if (link.length === 0)
    throw policyFault('link', 'must not be empty; leave it out to cover every authenticated caller');
}

function isLink(link: unknown): boolean {
  if (typeof link !== 'object' || link === null) return false;
  const { resourceType, id } = link as Partial<NativeReference>;
  return typeof resourceType === 'string' && LINKABLE.includes(resourceType) && typeof id === 'string' && id !== '';
}

function assertRoleName(roleName: unknown): void {
  if (roleName === undefined || (typeof roleName === 'string' && roleName.trim() !== '')) return;
  throw policyFault('roleName', 'must be the name of a Role');
}

function assertType(type: unknown, isForRpc: boolean): void {
  if (isForRpc && type !== 'rpc')
    throw policyFault('type', 'must be "rpc" with an engine that decides calls of methods');
  if (type === undefined || type === 'rest' || type === 'rpc') return;
  throw policyFault(
    'type',
    type === 'scope' ? 'cannot be "scope": SMART scopes are not served here' : 'must be "rest" or "rpc"',
  );
}

function assertCriteria(criteria: unknown): void {
  if (criteria === undefined) return;
  const list: readonly unknown[] = Array.isArray(criteria) ? criteria : [criteria];
  // An empty list looks like "no rows", but a policy without criteria grants all rows.
  if (list.length === 0 || list.length > MAX_CRITERIA || !list.every((one) => typeof one === 'string'))
    throw policyFault('criteria', `must be a text, or a list of 1 to ${MAX_CRITERIA} texts`);
}
