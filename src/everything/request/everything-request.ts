import { dateParameter } from '../../fhir/instant';
import { readSubset } from '../../fhir/subset/read-subset';
import { type Subset } from '../../fhir/subset/subset';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { type ExplainOptions, explainOptionsOf } from '../../search/query/explain-options';
import { assertGivenOnce, assertKnownParameters, isLenient } from '../../platform/http/known-parameters';
import { countOf, timeoutOf } from '../../search/query/result-parameters';
import { type CarePeriod } from '../plan/compartment-query';

const DEFAULT_TIMEOUT_SECONDS = 60;

/** Parameters that may be repeated. All their values count. */
const LISTS = ['_type', '_elements', '_include'];
/** Parameters that select entries. A later page does not accept them: its list already contains the selection. */
const CHOOSING = ['_since', '_type', 'start', 'end', '_include'];
/** Parameters of the format, which the links to other pages repeat. */
const SHOWING = ['_elements', '_summary', '_format', '_pretty'];
const PARAMETERS = [...CHOOSING, ...SHOWING, '_count', '_cursor', '_timeout', '_manifest', '_explain'];

export interface PageCursor {
  readonly listId: string;
  readonly position: number;
}

export interface EverythingRequest {
  readonly since: Date | undefined;
  readonly period: CarePeriod | undefined;
  /** Requested types of the compartment; undefined for all types. */
  readonly types: ReadonlySet<string> | undefined;
  readonly timeoutSeconds: number;
  /** Resources per page. 0 requests only the total; undefined requests everything at once. */
  readonly count: number | undefined;
  /** The list and position of a later page, from the link that led to it. */
  readonly cursor: PageCursor | undefined;
  readonly isManifest: boolean;
  readonly explain: ExplainOptions | undefined;
  /** The requested part of each resource; `count` requests only their number. */
  readonly subset: Subset | 'count' | undefined;
  /** The parameters that were used, for the `self` link. */
  readonly used: URLSearchParams;
}

/**
 * Reads the parameters of `$everything` (interface specification, "Patient everything"; docs/reference/everything.md).
 * @throws ServiceError 'invalid' for a parameter that is unknown, repeated or malformed
 */
export function readEverythingRequest(
  query: URLSearchParams,
  options: { prefer: string | undefined; maxTimeoutSeconds: number; isInCompartment: (type: string) => boolean },
): EverythingRequest {
  assertKnownParameters('$everything', query, PARAMETERS, options.prefer);
  assertGivenOnce(
    query,
    [...query.keys()].filter((name) => !LISTS.includes(name)),
  );
  const used = new URLSearchParams();
  const cursor = cursorOf(query);
  const count = pageSizeOf(query, cursor);
  const asked = timeoutOf(query.get('_timeout'), options.maxTimeoutSeconds);
  const types = typesOf(query, options);
  const isClosed = types !== undefined && !query.has('_include');
  const subset = readSubset(query, { types: isClosed ? [...types] : [], prefer: options.prefer });
  for (const name of ['_since', 'start', 'end', '_include', ...SHOWING, '_manifest', '_explain', '_cursor'])
    for (const value of query.getAll(name)) used.append(name, value);
  if (types !== undefined) used.set('_type', [...types].join(','));
  if (count !== undefined) used.set('_count', String(count));
  if (asked !== undefined) used.set('_timeout', String(asked));
  const since = query.get('_since');
  return {
    // A date without a time means the beginning of that day, so that no entry of that day is missed.
    since: since === null ? undefined : new Date(dateParameter('_since', since).low),
    period: periodOf(query),
    types,
    timeoutSeconds: asked ?? Math.min(DEFAULT_TIMEOUT_SECONDS, options.maxTimeoutSeconds),
    subset: count === 0 ? 'count' : subset,
    count: count === 0 ? undefined : count,
    cursor,
    isManifest: isManifestOf(query),
    explain: explainOptionsOf(query),
    used,
  };
}

export function linkedParameters(
  { used, count }: EverythingRequest,
  { listId, position }: PageCursor,
): URLSearchParams {
  const linked = new URLSearchParams([...used].filter(([name]) => SHOWING.includes(name) || name === '_timeout'));
  linked.set('_count', String(count));
  linked.set('_cursor', `${listId}.${position}`);
  return linked;
}

/** An empty `_count`, which other parameters ignore, is refused: it could mean everything at once, or a page. */
function pageSizeOf(query: URLSearchParams, cursor: PageCursor | undefined): number | undefined {
  if (query.get('_count') === '') throw parameterInvalid('_count must be a whole number such as 20.');
  return cursor !== undefined || query.has('_count') ? countOf(query) : undefined;
}

const CURSOR = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,9})$/;

function cursorOf(query: URLSearchParams): PageCursor | undefined {
  const text = query.get('_cursor');
  if (text === null) return undefined;
  const [, listId, position] = CURSOR.exec(text) ?? [];
  if (listId === undefined)
    throw new ServiceError(
      'page-link-invalid',
      '_cursor comes from links to further pages; follow these links unchanged.',
    );
  const chosen = [...CHOOSING, '_manifest', '_explain'].find((name) => query.has(name));
  if (chosen !== undefined)
    throw new ServiceError(
      'parameters-exclusive',
      `${chosen} and _cursor exclude each other: the request for the first page selected the resources of all pages.`,
    );
  return { listId, position: Number(position) };
}

function isManifestOf(query: URLSearchParams): boolean {
  const text = query.get('_manifest') ?? '';
  if (!/^(|[01]|true|false)$/.test(text)) throw parameterInvalid('_manifest must be 1 or 0.');
  return text === '1' || text === 'true';
}

function periodOf(query: URLSearchParams): CarePeriod | undefined {
  const [from, until] = [query.get('start'), query.get('end')];
  const start = from === null ? undefined : dateParameter('start', from).low;
  const end = until === null ? undefined : dateParameter('end', until).high;
  if (start === undefined && end === undefined) return undefined;
  if (start !== undefined && end !== undefined && start > end)
    throw parameterInvalid('start must not be later than end.');
  return { start, end };
}

function typesOf(
  query: URLSearchParams,
  { prefer, isInCompartment }: { prefer: string | undefined; isInCompartment: (type: string) => boolean },
): ReadonlySet<string> | undefined {
  if (!query.has('_type')) return undefined;
  const named = query.getAll('_type').flatMap((list) => list.split(','));
  const types = named.map((name) => name.trim()).filter((name) => name !== '');
  if (types.length === 0) throw parameterInvalid('_type must name resource types, such as Observation,Condition.');
  const foreign = types.find((type) => !isInCompartment(type));
  const known = new Set(types.filter(isInCompartment));
  if (foreign === undefined || (isLenient(prefer) && known.size > 0)) return known;
  throw parameterInvalid(
    `_type: "${foreign.slice(0, 64)}" is no type of the Patient compartment (GET /fhir/CompartmentDefinition/patient lists them).`,
  );
}
