import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { type WriteKind } from '../../model/resource-type';
import { ResourceTypes } from '../../model/resource-types';
import { RowLimits } from '../../resource/rows/row-limits';
import { type Bundle, type BundleEntry, type EntryResource, type BundleCall } from './bundle';
import { type Deadline } from './deadline';
import { type WriteAction, writeActionOf } from './entry-action';
import { entryBodyOf } from './entry-body';
import { linkSitesOfResource } from './reference-sites';
import { type EntryGrant, isConditional, namedCondition, searchedTypeOf, type WriteIntent } from './write-intent';
import { WRITE_IDS } from '../../resource/access/entry-access';

interface Intents {
  readonly writes: readonly WriteIntent[];
  /** The entries that read. */
  readonly reads: readonly BundleEntry[];
}

const WRITE_KINDS = { POST: 'create', PUT: 'update', PATCH: 'update' } as const;

const NO_GRANTS: WriteIntent['linked'] = new Map();

/**
 * The body of an entry as a policy sees it. A patch that cannot be read has none; it is refused when the writes are
 * planned.
 */
function bodyValue(verb: WriteAction['verb'], resource: EntryResource | undefined): unknown {
  try {
    const { body } = entryBodyOf(verb, resource);
    return body === undefined ? undefined : (JSON.parse(body.toString('utf8')) as unknown);
  } catch {
    return undefined;
  }
}

/** Whether the links of a sent resource are stored: those of a body, or of a patch in Parameters. */
const hasLinks = (verb: WriteAction['verb'], resource: EntryResource | undefined): resource is EntryResource =>
  resource !== undefined && (verb === 'POST' || verb === 'PUT' || (verb === 'PATCH' && resource.type === 'Parameters'));

function kindOf({ verb, id }: WriteAction): WriteKind {
  if (verb === 'DELETE') return id === undefined ? 'conditional-delete' : 'delete';
  return WRITE_KINDS[verb];
}

/**
 * Reads the requests of a transaction's entries. An entry to which the caller has no access is refused before anything
 * is written.
 */
@Injectable()
export class WriteIntents {
  constructor(
    private readonly types: ResourceTypes,
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly environment: Environment,
  ) {}

  async of({ entries, faults }: Bundle, call: BundleCall, deadline: Deadline): Promise<Intents> {
    const writes: WriteIntent[] = [];
    const reads: BundleEntry[] = [];
    const known = new Map<string, EntryGrant>();
    for (const entry of entries) {
      await faults.at(entry.index, async () => {
        const action = writeActionOf(entry, this.environment.baseUrl);
        if (action === undefined) reads.push(entry);
        else writes.push(await this.writeIntent(entry, action, call, known));
      });
      await deadline.check();
    }
    return { writes, reads };
  }

  private async writeIntent(
    entry: BundleEntry,
    action: WriteAction,
    call: BundleCall,
    known: Map<string, EntryGrant>,
  ): Promise<WriteIntent> {
    const { verb, type, id, criteria } = action;
    const { resource } = entry;
    this.types.assertWritable(type, kindOf(action), id === undefined ? 'type' : 'instance');
    const policies = { readBody: false };
    const sent = (): unknown => {
      policies.readBody = true;
      return bodyValue(verb, resource);
    };
    const granted = call.isSystem ? undefined : await this.grantOf(action, sent, known);
    const links = hasLinks(verb, resource)
      ? linkSitesOfResource(resource.members.map(({ valueText }) => valueText))
      : [];
    const searches = links.flatMap((sites) => sites.map(({ link }) => link).filter(isConditional));
    return {
      entry,
      action,
      granted,
      grantOfStored: policies.readBody ? (stored) => this.grantOf(action, () => stored, known) : undefined,
      searches,
      linked: call.isSystem || searches.length === 0 ? NO_GRANTS : await this.grantsOf(searches, known),
      condition: criteria === undefined ? undefined : namedCondition({ type, criteria }, granted),
      links,
    };
  }

  /**
   * The rows that the caller may access for an entry.
   * @param body returns the body of the entry
   * @throws ServiceError 'forbidden' if no policy grants the entry
   */
  private async grantOf(
    { verb, type, id, criteria }: WriteAction,
    body: () => unknown,
    known: Map<string, EntryGrant>,
  ): Promise<EntryGrant> {
    const rows = await this.access.grant({
      operationId: WRITE_IDS[verb][criteria === undefined ? 0 : 1],
      method: verb,
      url: id === undefined ? (criteria === undefined ? type : `${type}?${criteria}`) : `${type}/${id}`,
      type,
      ...(id === undefined ? {} : { id }),
      body,
    });
    return this.grantOfRows(rows, known);
  }

  /**
   * The rows that the references by search of an entry may find.
   * @throws ServiceError 'forbidden' naming the types that the caller may not search
   */
  private async grantsOf(
    searches: WriteIntent['searches'],
    known: Map<string, EntryGrant>,
  ): Promise<ReadonlyMap<string, EntryGrant>> {
    const grants = new Map<string, EntryGrant>();
    const hidden: string[] = [];
    for (const type of new Set(searches.map(searchedTypeOf))) {
      const rows = await this.access.decider.searchedRows(type);
      if (rows === undefined) hidden.push(type);
      else grants.set(type, await this.grantOfRows(rows, known));
    }
    if (hidden.length > 0) throw await this.access.decider.refusalOfSearch(hidden);
    return grants;
  }

  private async grantOfRows(rows: GrantedRows, known: Map<string, EntryGrant>): Promise<EntryGrant> {
    const name = rows === 'all' ? '' : JSON.stringify(rows);
    const granted = known.get(name) ?? { reach: await this.limits.reach(rows), name };
    known.set(name, granted);
    return granted;
  }
}
