/** A node of an execution plan, with times and rows over all its loops. */
export interface PlanNode {
  /** The position of the node in the tree: `0.1.2`. */
  readonly id: string;
  readonly kind: string;
  /** The kind of the node and its table: `Index Scan of search_token`. */
  readonly title: string;
  /** The name of the CTE or subplan that begins here. */
  readonly subplan?: string;
  readonly relation?: string;
  readonly index?: string;
  /** Conditions and keys, as PostgreSQL prints them. */
  readonly details: readonly { readonly label: string; readonly text: string }[];
  readonly estimatedRows: number;
  /** Rows per loop, like the estimate; absent in a plan that was not executed. */
  readonly actualRows?: number;
  readonly loops?: number;
  /** Milliseconds of this node and the nodes below it, over all loops. */
  readonly total?: number;
  /** Milliseconds of this node only. */
  readonly own?: number;
  readonly buffers?: { readonly hit: number; readonly read: number };
  readonly isNeverRun: boolean;
  /** How many times more or fewer rows there were than estimated; absent if the factor is at most ten. */
  readonly misestimate?: { readonly factor: number; readonly isMore: boolean };
  /** Whether there were fewer rows than estimated because a Limit above needed no more. */
  readonly isCutShort: boolean;
  readonly children: readonly PlanNode[];
}

export interface Plan {
  readonly root: PlanNode;
  readonly planningTime?: number;
  readonly executionTime?: number;
  /** The id of the node with the longest own time; absent in a plan that was not executed. */
  readonly dearest?: string;
}

type Raw = Readonly<Record<string, unknown>>;

/** The factor above which a difference between estimated and actual rows is marked. */
const MUCH = 10;

const DETAILS = [
  'Index Cond',
  'Recheck Cond',
  'Filter',
  'Join Filter',
  'Hash Cond',
  'Merge Cond',
  'Sort Key',
  'Group Key',
  'Order By',
  'One-Time Filter',
  'CTE Name',
  'Sort Method',
] as const;

/**
 * Nodes that read all their input before they return a row. A Limit above such a node does not shorten the nodes below
 * it.
 */
const BLOCKING = new Set(['Sort', 'Aggregate', 'Hash', 'Materialize', 'Unique', 'SetOp']);

/** @param plan the answer to `_explain=format-json`; undefined if it is no plan */
export function planOf(plan: unknown): Plan | undefined {
  const stated = Array.isArray(plan) ? (plan[0] as unknown) : plan;
  if (!isRaw(stated) || !isRaw(stated['Plan'])) return undefined;
  const root = nodeOf(stated['Plan'], '0', false);
  const [planningTime, executionTime] = [stated['Planning Time'], stated['Execution Time']].map(numberOf);
  settleCtes(root);
  const nodes = [...walk(root)];
  const dearest = nodes.reduce<Draft | undefined>(
    (best, node) => (node.own !== undefined && node.own > (best?.own ?? 0) ? node : best),
    undefined,
  );
  return {
    root,
    ...(planningTime === undefined ? {} : { planningTime }),
    ...(executionTime === undefined ? {} : { executionTime }),
    ...(dearest === undefined ? {} : { dearest: dearest.id }),
  };
}

/** All nodes, starting at the root. */
export function* walk<Node extends { readonly children: readonly Node[] }>(node: Node): Generator<Node, void, void> {
  yield node;
  for (const child of node.children) yield* walk(child);
}

interface Draft extends PlanNode {
  own?: number;
  readonly children: readonly Draft[];
  readonly cteName?: string;
}

function nodeOf(raw: Raw, id: string, isLimited: boolean): Draft {
  const kind = textOf(raw['Node Type']) ?? 'Node';
  const [relation, index, subplan] = [raw['Relation Name'], raw['Index Name'], raw['Subplan Name']].map(textOf);
  const plans = Array.isArray(raw['Plans']) ? raw['Plans'].filter(isRaw) : [];
  const isLimitBelow = kind === 'Limit' || (isLimited && !BLOCKING.has(kind));
  const children = plans.map((child, at) =>
    nodeOf(child, `${id}.${at}`, isLimitBelow && textOf(child['Subplan Name']) === undefined),
  );
  const loops = numberOf(raw['Actual Loops']);
  const [perLoop, actualRows] = [numberOf(raw['Actual Total Time']), numberOf(raw['Actual Rows'])];
  const estimatedRows = numberOf(raw['Plan Rows']) ?? 0;
  const total = perLoop === undefined || loops === undefined ? undefined : perLoop * loops;
  // The time of a CTE counts in the node that reads it, not in the node that it is attached to.
  const below = children
    .filter((child) => child.subplan?.startsWith('CTE ') !== true)
    .reduce((sum, child) => sum + (child.total ?? 0), 0);
  const isNeverRun = loops === 0;
  const isOff = actualRows !== undefined && !isNeverRun;
  const factor = isOff ? ratioOf(estimatedRows, actualRows) : 1;
  const isMore = (actualRows ?? 0) > estimatedRows;
  const isCutShort = factor > MUCH && !isMore && isLimited;
  const [hit, read] = [numberOf(raw['Shared Hit Blocks']), numberOf(raw['Shared Read Blocks'])];
  const cteName = textOf(raw['CTE Name']);
  return {
    id,
    kind,
    title: titleOf(raw, kind, relation),
    ...(subplan === undefined ? {} : { subplan }),
    ...(relation === undefined ? {} : { relation }),
    ...(index === undefined ? {} : { index }),
    details: DETAILS.flatMap((label) => {
      const value = raw[label];
      const text = Array.isArray(value) ? value.join(', ') : textOf(value);
      return text === undefined || text === '' ? [] : [{ label, text }];
    }),
    estimatedRows,
    ...(actualRows === undefined ? {} : { actualRows }),
    ...(loops === undefined ? {} : { loops }),
    ...(total === undefined ? {} : { total, own: Math.max(0, total - below) }),
    ...(hit === undefined || read === undefined ? {} : { buffers: { hit, read } }),
    isNeverRun,
    ...(factor > MUCH && !isCutShort ? { misestimate: { factor, isMore } } : {}),
    isCutShort,
    ...(cteName === undefined ? {} : { cteName }),
    children,
  };
}

/** Moves the time of each CTE out of the own time of the node that reads it first: that read executes the CTE. */
function settleCtes(root: Draft): void {
  const nodes = [...walk(root)];
  for (const cte of nodes) {
    const name = /^CTE (.*)$/.exec(cte.subplan ?? '')?.[1];
    if (name === undefined || cte.total === undefined) continue;
    const [payer] = nodes
      .filter((node) => node.cteName === name && node.own !== undefined)
      .sort((one, other) => (other.own ?? 0) - (one.own ?? 0));
    if (payer?.own !== undefined) payer.own = Math.max(0, payer.own - cte.total);
  }
}

function titleOf(raw: Raw, kind: string, relation: string | undefined): string {
  const strategy = textOf(raw['Strategy']);
  const [join, command] = [textOf(raw['Join Type']), textOf(raw['Operation'])];
  const name =
    kind === 'Aggregate' && strategy !== undefined && strategy !== 'Plain'
      ? `${strategy} Aggregate`
      : join !== undefined && join !== 'Inner'
        ? `${kind} (${join})`
        : (command ?? kind);
  const cte = textOf(raw['CTE Name']);
  if (cte !== undefined) return `${name} of ${cte}`;
  return relation === undefined ? name : `${name} of ${relation}`;
}

/** The factor between both numbers of rows, at least 1: less than a row counts as one. */
function ratioOf(estimate: number, actual: number): number {
  const [low, high] = [Math.max(1, Math.min(estimate, actual)), Math.max(1, estimate, actual)];
  return high / low;
}

/** A text of the plan, with ids of search parameters replaced by their names. */
export function namedParts(
  text: string,
  parameters: readonly { readonly id: number; readonly name: string }[],
): readonly { readonly text: string; readonly isName: boolean }[] {
  const names = new Map(parameters.map(({ id, name }) => [String(id), name]));
  return text
    .split(/(-?\d{5,})/)
    .filter((part) => part !== '')
    .map((part) => {
      const name = names.get(part);
      return name === undefined ? { text: part, isName: false } : { text: name, isName: true };
    });
}

/** The search parameters in the conditions of a node. */
export const parametersIn = (
  { details }: Pick<PlanNode, 'details'>,
  parameters: readonly { readonly id: number; readonly name: string }[],
): readonly string[] => [
  ...new Set(
    details
      .flatMap(({ text }) => namedParts(text, parameters))
      .filter(({ isName }) => isName)
      .map(({ text }) => text),
  ),
];

const isRaw = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
