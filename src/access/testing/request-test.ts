import { Injectable } from '@nestjs/common';
import { type NativeReference, type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { isObject } from '../../platform/json/plain-object';
import { WRITE_IDS } from '../../resource/access/entry-access';
import { AccessDecision, type PolicyOutcome } from '../decision/access-decision';
import { AccessPolicies } from '../policy/access-policies';
import { linksThatCover } from '../policy/policy-index';
import { couldCall } from '../request/caller-parts';
import { type LazyRequest } from '../request/lazy-request';
import { NamedResources } from './named-resources';
import { type PolicyTestResult, resultFrom } from './policy-test';
import { type ResourceName } from '../../model/stored-resource';

/**
 * A policy that was evaluated, with the links by which it covers the request. The response omits undefined members.
 */
interface TestedPolicy {
  readonly id: string;
  readonly engine: string;
  readonly link: readonly NativeReference[] | undefined;
  readonly roleName: string | undefined;
  readonly result: PolicyTestResult & {
    /**
     * Whether a criterion of this policy finds the resource that the request names. Absent if the policy has no
     * criteria, or the request names no resource.
     */
    readonly 'finds-resource': boolean | undefined;
    /** Why no criterion finds the resource. Absent if the caller of the test may not read the resource. */
    readonly reason: string | undefined;
  };
}

export interface RequestTestResult {
  readonly decision: {
    readonly granted: boolean;
    /** `all` if a policy grants without criteria; `some` if all granting policies have criteria. */
    readonly rows: 'all' | 'some' | undefined;
    /** Id of the first policy that grants without criteria. A real request does not evaluate the policies after it. */
    readonly by: string | undefined;
    /** If `rows` is `some`: whether a criterion of a granting policy finds the resource that the request names. */
    readonly 'finds-resource': boolean | undefined;
    /** Whether the named resource is stored. Absent if the caller of the test may not learn that. */
    readonly 'is-stored': boolean | undefined;
  };
  readonly policies: readonly TestedPolicy[];
  /** How many policies that cover the request are not in the list. */
  readonly more: number | undefined;
  readonly note: string | undefined;
}

interface NamedResource {
  readonly row: ResourceName;
  readonly isFound: boolean;
  /** Present if the caller of the test may read the resource. */
  readonly resource: Resource | undefined;
}

const MAX_POLICIES = 100;

/** Evaluates all stored policies that cover a described request, like a decision. */
@Injectable()
export class RequestTest {
  constructor(
    private readonly access: AccessDecision,
    private readonly stored: AccessPolicies,
    private readonly named: NamedResources,
    private readonly statements: Statements,
    private readonly environment: Environment,
  ) {}

  /**
   * Returns the decision and the results. Criteria cost as much as searches, so all of them together have one time
   * limit and use the slots of searches.
   */
  resultOf(request: LazyRequest): Promise<RequestTestResult> {
    const seconds = this.environment.statementTimeoutSeconds;
    const limit = new TimeLimit(seconds, `The criteria of the policies took longer than ${seconds} s.`, true);
    return this.statements.within(limit, () => this.tried(request));
  }

  private async tried(request: LazyRequest): Promise<RequestTestResult> {
    const row = await namedRowOf(request);
    const seen = row && (await this.named.readOwn(row));
    const outcomes: PolicyOutcome[] = [];
    const finding = new Set<PolicyOutcome>();
    for await (const one of this.access.outcomes(request, await this.stored.current())) {
      outcomes.push(one);
      if (row && Array.isArray(one.granted) && (await this.named.isIn(one.granted, row))) finding.add(one);
    }
    const by = outcomes.find(({ granted }) => granted === 'all')?.policy.id;
    const isLimited = by === undefined && outcomes.some(({ granted }) => granted !== undefined);
    const limitedRows = isLimited ? ('some' as const) : undefined;
    const decision = {
      granted: by !== undefined || isLimited,
      rows: by === undefined ? limitedRows : ('all' as const),
      by,
      'finds-resource': isLimited && row ? finding.size > 0 : undefined,
      'is-stored': seen?.isStored,
    };
    const policies: TestedPolicy[] = [];
    for (const one of outcomes.slice(0, MAX_POLICIES))
      policies.push(
        await this.described(one, request, row && { row, isFound: finding.has(one), resource: seen?.resource }),
      );
    const isHidden = isLimited && finding.size === 0 && row !== undefined;
    const hidden = isHidden ? await hiddenNote(request, row, seen?.isStored, policies) : undefined;
    const note = await noteOn(request, policies.length === 0, hidden ?? (isLimited ? noteOnWrite(request) : undefined));
    const more = outcomes.length - policies.length;
    return { decision, policies, more: more === 0 ? undefined : more, note };
  }

  private async described(one: PolicyOutcome, request: LazyRequest, named?: NamedResource): Promise<TestedPolicy> {
    const { id, engine, links, roleName } = one.policy;
    const result = resultFrom(one);
    const isMissed = result.criteria !== undefined && named?.isFound === false;
    const reason = isMissed ? await this.reasonOf(one, request, named) : undefined;
    return {
      id,
      engine,
      link: links.length === 0 ? undefined : linksThatCover(one.policy, request),
      roleName,
      result: { ...result, 'finds-resource': result.criteria && named?.isFound, reason },
    };
  }

  private async reasonOf(
    { policy, granted }: PolicyOutcome,
    { caller: { userId, clientId } }: LazyRequest,
    { row, resource }: NamedResource,
  ): Promise<string | undefined> {
    if (resource === undefined || !Array.isArray(granted)) return undefined;
    // The criteria contain values of the caller that the request describes. They are shown only if the caller of the
    // test may read the User or Client that they come from. Values of the Session or the JWT are never shown.
    const parts = new Set(policy.criteria.flatMap((criterion) => criterion.parts));
    const isOpen =
      !parts.has('session') &&
      !parts.has('jwt') &&
      (!parts.has('user') || (await this.mayRead('User', userId))) &&
      (!parts.has('client') || (await this.mayRead('Client', clientId)));
    return this.named.whyMissed(granted, row, resource, isOpen);
  }

  private async mayRead(type: string, id: string | undefined): Promise<boolean> {
    return id !== undefined && (await this.named.readOwn({ type, id })).resource !== undefined;
  }
}

/** The resource that the route names, or the target or document of an RPC call. */
async function namedRowOf(request: LazyRequest): Promise<ResourceName | undefined> {
  const { target, document } = objectOf(request.rpc?.params);
  const params = objectOf(await request.part('params'));
  const { resourceType: type = params['resource/type'], id = params['resource/id'] } = objectOf(target ?? document);
  return typeof type === 'string' && typeof id === 'string' ? { type, id } : undefined;
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

const STORING = [...WRITE_IDS.POST, ...WRITE_IDS.PUT, ...WRITE_IDS.PATCH] as readonly string[];

const noteOnWrite = ({ operationId = '' }: LazyRequest): string | undefined =>
  STORING.includes(operationId)
    ? 'The criteria must also find the resource as the write would store it, which is not tested here.'
    : undefined;

/** @param other the note for a request whose caller and policies exist */
async function noteOn(request: LazyRequest, isUncovered: boolean, other?: string): Promise<string | undefined> {
  const caller = callerText(request);
  if (!(await couldCall(request))) return `There is no active ${caller.slice('the '.length)}: its requests get 401.`;
  if (isUncovered)
    return `No AccessPolicy covers this request. Link one to ${caller}${request.caller.userId === undefined ? '' : ', or name one of its Roles as roleName'}.`;
  return other;
}

const callerText = ({ caller: { userId, clientId } }: LazyRequest): string =>
  userId === undefined ? `the Client "${clientId}"` : `the User "${userId}"`;

async function hiddenNote(
  request: LazyRequest,
  row: ResourceName,
  isStored: boolean | undefined,
  policies: readonly TestedPolicy[],
): Promise<string> {
  const isPut = (await request.part('request-method')) === 'put';
  if (isStored === false && isPut)
    return `${row.type}/${row.id} is not stored. PUT creates it, if a criterion finds what is sent.`;
  const answer = isPut
    ? `403${isStored === true ? '' : ' if it is stored'}`
    : 'the answer for a resource that is not stored';
  return `${whyHidden(row, isStored, policies)} So ${callerText(request)} gets ${answer}.`;
}

function whyHidden(
  { type, id }: ResourceName,
  isStored: boolean | undefined,
  policies: readonly TestedPolicy[],
): string {
  const name = `${type}/${id}`;
  if (isStored === false) return `${name} is not stored.`;
  if (isStored === undefined) return `${name} is not stored, or hidden from you too.`;
  const reasons = policies.flatMap(({ id: policy, result: { reason } }) =>
    reason === undefined ? [] : [`${policy} does not grant it: ${reason}.`],
  );
  const [only, ...others] = reasons;
  return only === undefined || others.length > 0
    ? `${name} is stored, but none of these policies grants it.`
    : `${name} is stored, but ${only}`;
}
