/** An AccessPolicy, as far as the page reads it. */
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

/** A policy with a Role and links needs both: its links say for what, its Role for whom. */
export function coveredBy({ link = [], roleName }: PolicyBody): readonly Covered[] {
  const links = link.flatMap(({ resourceType: kind, id }): Covered[] =>
    kind === 'User' || kind === 'Client' || kind === 'Operation' ? [{ kind, name: id }] : [],
  );
  const role: Covered[] = roleName === undefined ? [] : [{ kind: 'Role', name: roleName }];
  return links.length + role.length === 0 ? [{ kind: 'everyone', name: '' }] : [...role, ...links];
}

/** Whether a policy may cover requests of a User who holds these Roles. */
export function mayCoverUser(policy: PolicyBody, userId: string, roles: readonly string[]): boolean {
  if (policy.roleName !== undefined && !roles.includes(policy.roleName)) return false;
  return mayCover(policy, 'User', userId);
}

/** Whether a policy may cover requests that a Client sends with its own credentials. */
export const mayCoverClient = (policy: PolicyBody, clientId: string): boolean =>
  policy.roleName === undefined && mayCover(policy, 'Client', clientId);

/** Links to Operations hold for everyone who calls them. */
const mayCover = ({ link = [] }: PolicyBody, kind: string, id: string): boolean =>
  link.length === 0 ||
  link.some((one) => one.resourceType === 'Operation' || (one.resourceType === kind && one.id === id));

/** The effect of a policy, in a few words. */
export function summaryOf({ engine = '', description, criteria, type }: PolicyBody): string {
  if (description !== undefined && description !== '') return description;
  const what = ENGINES[engine] ?? `Decided by the engine ${engine}`;
  const rows = criteria === undefined ? '' : ', for resources that its criteria find';
  return `${what}${type === 'rpc' ? ', of RPC calls' : ''}${rows}`;
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
 * The value of a policy at the path of a failed clause, such as `matcho.params.resource/type`. Names of members may
 * hold dots, so the longest name that fits goes first.
 * @returns undefined where the path leads to nothing of the policy
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

/** `.params` and `[0].x` begin with a mark of the step before. */
const withoutStep = (rest: string): string => rest.replace(/^\.|^\[/, '').replace(/^(\d+)\]/, '$1');
