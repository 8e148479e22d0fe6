import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { type NamedRow, RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { AccessDecision, type PolicyOutcome } from '../decision/access-decision';
import { linksThatCover } from '../policy/policy-index';
import { couldCall } from '../request/caller-parts';
import { type LazyRequest } from '../request/lazy-request';
import { PolicyTest, type PolicyTestResult } from './policy-test';

/** A policy that was tried, and why it covers the request. */
export interface TestedPolicy {
  readonly id: string;
  readonly engine: string;
  /** The links that fit the request; absent for a policy without links. */
  readonly link?: readonly NativeReference[];
  readonly roleName?: string;
  readonly result: PolicyTestResult & {
    /** Of a grant with criteria, for a request that names a resource: whether a criterion finds it. */
    readonly 'finds-resource'?: boolean;
  };
}

export interface RequestTestResult {
  readonly decision: {
    readonly granted: boolean;
    /** `some`: criteria limit all grants. */
    readonly rows?: 'all' | 'some';
    /** The policy whose grant has no limit; later ones are not tried for a real request. */
    readonly by?: string;
    /** Of a grant of some rows: whether the resource that the request names is one of them. */
    readonly 'finds-resource'?: boolean;
  };
  /** The policies that cover the request, in the order of evaluation. */
  readonly policies: readonly TestedPolicy[];
  /** How many further policies cover the request. */
  readonly more?: number;
  readonly note?: string;
}

const MAX_POLICIES = 100;

/** Tries all stored policies on a described request, like a decision, and returns what each says. */
@Injectable()
export class RequestTest {
  constructor(
    private readonly access: AccessDecision,
    private readonly test: PolicyTest,
    private readonly limits: RowLimits,
    private readonly check: RowCheck,
    private readonly statements: Statements,
    private readonly environment: Environment,
  ) {}

  /** Criteria cost as much as searches, so they share one time limit and the slots of searches. */
  resultOf(request: LazyRequest): Promise<RequestTestResult> {
    const seconds = this.environment.statementTimeoutSeconds;
    const limit = new TimeLimit(seconds, `The criteria of the policies took longer than ${seconds} s.`, true);
    return this.statements.within(limit, () => this.tried(request));
  }

  private async tried(request: LazyRequest): Promise<RequestTestResult> {
    const row = await namedRowOf(request);
    const policies: TestedPolicy[] = [];
    let by: string | undefined;
    let isLimitedGrant = false;
    let finds = false;
    let more = 0;
    for await (const one of this.access.outcomes(request)) {
      const { granted } = one.outcome;
      if (granted === 'all') by ??= one.policy.id;
      const isFound = Array.isArray(granted) && row !== undefined && (await this.finds(granted, row));
      isLimitedGrant ||= Array.isArray(granted);
      finds ||= isFound;
      if (policies.length < MAX_POLICIES)
        policies.push(await this.described(one, request, row === undefined ? undefined : isFound));
      else more++;
    }
    const isLimited = by === undefined && isLimitedGrant;
    const decision = {
      granted: by !== undefined || isLimited,
      ...(by === undefined ? {} : { rows: 'all' as const, by }),
      ...(isLimited ? { rows: 'some' as const } : {}),
      ...(isLimited && row !== undefined ? { 'finds-resource': finds } : {}),
    };
    const note = await noteOn(request, policies.length === 0, isLimited && !finds ? row : undefined);
    return { decision, policies, ...(more === 0 ? {} : { more }), ...(note === undefined ? {} : { note }) };
  }

  private async described(one: PolicyOutcome, request: LazyRequest, finds?: boolean): Promise<TestedPolicy> {
    const { id, engine, links, roleName } = one.policy;
    const result = await this.test.resultFrom(one);
    return {
      id,
      engine,
      ...(links.length === 0 ? {} : { link: linksThatCover(one.policy, request) }),
      ...(roleName === undefined ? {} : { roleName }),
      result: {
        ...result,
        ...(result.criteria === undefined || finds === undefined ? {} : { 'finds-resource': finds }),
      },
    };
  }

  private async finds(rows: GrantedRows, row: NamedRow): Promise<boolean> {
    return this.check.isGranted(await this.limits.of(rows), row);
  }
}

/** The resource whose stored version the criteria must find. */
async function namedRowOf(request: LazyRequest): Promise<NamedRow | undefined> {
  const { 'resource/type': type, 'resource/id': id } = ((await request.part('params')) ?? {}) as Record<
    string,
    unknown
  >;
  return typeof type === 'string' && typeof id === 'string' ? { type, id } : undefined;
}

/** @param hidden the resource that no criterion finds */
async function noteOn(request: LazyRequest, isUncovered: boolean, hidden?: NamedRow): Promise<string | undefined> {
  const { userId, clientId } = request.caller;
  const caller = userId === undefined ? `the Client "${clientId}"` : `the User "${userId}"`;
  if (!(await couldCall(request))) return `There is no active ${caller.slice('the '.length)}: its requests get 401.`;
  if (isUncovered)
    return `No AccessPolicy covers this request. Link one to ${caller}${userId === undefined ? '' : ', or name one of its Roles as roleName'}.`;
  if (hidden === undefined) return undefined;
  return `No criterion of these policies finds ${hidden.type}/${hidden.id}: ${caller} gets the answer for a resource that is not stored.`;
}
