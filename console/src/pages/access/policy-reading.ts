import { plainTexts } from './clause-sentence';

/** The members of an AccessPolicy that the page reads. */
export interface PolicyBody {
  readonly id?: string;
  readonly engine?: string;
  readonly description?: string;
  readonly link?: readonly { readonly resourceType: string; readonly id: string }[];
  readonly roleName?: string;
  readonly type?: string;
  readonly criteria?: string | readonly string[];
  readonly [member: string]: unknown;
}

/** The callers that a policy covers: `User ana`, `Role clinician`, `everyone with credentials`. */
export interface Covered {
  readonly kind: 'User' | 'Client' | 'Operation' | 'Role' | 'everyone';
  readonly name: string;
}

/** A policy with a Role and links requires both: the links select requests, the Role selects callers. */
export function coveredBy({ link = [], roleName }: PolicyBody): readonly Covered[] {
  const links = link.flatMap(({ resourceType: kind, id }): Covered[] =>
    kind === 'User' || kind === 'Client' || kind === 'Operation' ? [{ kind, name: id }] : [],
  );
  const role: Covered[] = roleName === undefined ? [] : [{ kind: 'Role', name: roleName }];
  return links.length + role.length === 0 ? [{ kind: 'everyone', name: '' }] : [...role, ...links];
}

/** Whether a policy may cover requests of a User with these Roles. */
export function mayCoverUser(policy: PolicyBody, userId: string, roles: readonly string[]): boolean {
  if (policy.roleName !== undefined && !roles.includes(policy.roleName)) return false;
  return mayCover(policy, 'User', userId);
}

/** Whether a policy may cover requests that a Client sends with its own credentials. */
export const mayCoverClient = (policy: PolicyBody, clientId: string): boolean =>
  policy.roleName === undefined && mayCover(policy, 'Client', clientId);

/** Whether the links of a policy cover a caller. Links to Operations apply to every caller. */
const mayCover = ({ link = [] }: PolicyBody, kind: string, id: string): boolean =>
  link.length === 0 ||
  link.some((one) => one.resourceType === 'Operation' || (one.resourceType === kind && one.id === id));

/** The effect of a policy, in a few words. */
export function summaryOf(policy: PolicyBody): string {
  const { engine = '', description, criteria, type } = policy;
  if (description !== undefined && description !== '') return description;
  const what = patternSummary(policy) ?? ENGINES[engine] ?? `Decided by the engine ${engine}`;
  const rows = criteria === undefined ? '' : ', for resources that its criteria find';
  return `${what}${type === 'rpc' ? ', of RPC calls' : ''}${rows}`;
}

/** A pattern for methods and types alone: `Allows GET of Patient or Observation`. */
function patternSummary({ engine, matcho }: PolicyBody): string | undefined {
  if (engine !== 'matcho' || typeof matcho !== 'object' || matcho === null) return undefined;
  const { 'request-method': method, params, ...others } = matcho as Readonly<Record<string, unknown>>;
  const { 'resource/type': type, ...otherParams } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length + Object.keys(otherParams).length > 0) return undefined;
  const [methods, types] = [plainTexts(method), plainTexts(type)];
  if (types === undefined || (methods === undefined && method !== undefined)) return undefined;
  const verbs = methods === undefined ? 'all requests' : methods.map((one) => one.toUpperCase()).join(' or ');
  return `Allows ${verbs} of ${types.join(' or ')}`;
}

const ENGINES: Readonly<Record<string, string>> = {
  allow: 'Allows everything',
  matcho: 'Allows requests that match a pattern',
  'json-schema': 'Allows requests that fit a JSON schema',
  complex: 'Allows by several conditions',
  'allow-rpc': 'Allows the RPC methods that it lists',
  'matcho-rpc': 'Allows RPC calls whose params match',
};

/**
 * The value of a policy at the path of a failed clause, such as `matcho.params.resource/type`. Member names may contain
 * dots, so the longest matching name is used.
 * @returns undefined if the path leads to nothing in the policy
 */
export function clauseAt(policy: unknown, path: string): unknown {
  if (path === '') return policy;
  if (typeof policy !== 'object' || policy === null) return undefined;
  const names = Object.keys(policy).sort((one, other) => other.length - one.length);
  for (const name of names) {
    const rest =
      path === name
        ? ''
        : [`${name}.`, `${name}[`].some((begin) => path.startsWith(begin))
          ? path.slice(name.length)
          : undefined;
    if (rest === undefined) continue;
    const found = clauseAt((policy as Readonly<Record<string, unknown>>)[name], withoutStep(rest));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes the separator with which the rest of a path begins: the `.` of `.params`, or the brackets of `[0].x`. */
const withoutStep = (rest: string): string => rest.replace(/^\.|^\[/, '').replace(/^(\d+)\]/, '$1');
