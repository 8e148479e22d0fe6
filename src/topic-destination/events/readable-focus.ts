import { Injectable } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { type NativeReference } from '../../fhir/types';
import { type ResourceName } from '../../model/stored-resource';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { RequestContext } from '../../platform/request/request-context';
import { type Reader } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { principalOf } from '../destinations/destination-principal';

/** Selects the resources that a principal (a User or Client) may read, by the rows that are granted to it now. */
@Injectable()
export class ReadableFocus {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Returns those resources that the caller may read. If the caller is limited by row criteria, deleted resources are
   * excluded: they have no body, so row criteria cannot decide.
   */
  among<F extends ResourceName>(focuses: readonly F[]): Promise<ReadonlySet<F>> {
    return this.of(this.ownPrincipal, focuses, (reader, focus) => reader.rowsOf(focus));
  }

  /**
   * Returns those resources that `resolve()` in a criterion may find: the ones that the principal may search.
   * @param principal the principal of the destination; by default the caller
   */
  reachable<F extends ResourceName>(focuses: readonly F[], principal = this.ownPrincipal): Promise<ReadonlySet<F>> {
    return this.of(principal, focuses, (reader, { type }) => reader.searchedRows(type));
  }

  private get ownPrincipal(): NativeReference | undefined {
    const { caller } = this.requests;
    return caller === undefined ? undefined : principalOf(caller);
  }

  /**
   * Returns each resource that is among the rows that `rowsOf` returns for it. Resources under the same criteria share
   * one query.
   */
  async withinRows<F extends ResourceName>(
    focuses: Iterable<F>,
    rowsOf: (focus: F) => Promise<GrantedRows | undefined>,
  ): Promise<readonly F[]> {
    const groups = new Map<string, { readonly rows: GrantedRows; readonly focuses: F[] }>();
    for (const focus of focuses) {
      const rows = await rowsOf(focus);
      if (rows === undefined) continue;
      const name = JSON.stringify(rows);
      const group = groups.get(name) ?? { rows, focuses: [] };
      groups.set(name, group);
      group.focuses.push(focus);
    }
    const found: F[] = [];
    for (const { rows, focuses: asked } of groups.values()) {
      const limit = await this.limits.of(rows);
      const beyond = new Set(limit === undefined ? [] : await this.rows.beyond(limit, asked));
      found.push(...asked.filter((_focus, place) => !beyond.has(place)));
    }
    return found;
  }

  private async of<F extends ResourceName>(
    principal: NativeReference | undefined,
    focuses: readonly F[],
    rowsOf: (reader: Reader, focus: F) => Promise<GrantedRows | undefined>,
  ): Promise<ReadonlySet<F>> {
    const reader = principal && (await this.access.decider.readerNamed(principal));
    if (reader === undefined) return new Set();
    const unique = new Map(focuses.map((focus) => [focusKey(focus), focus]));
    const readable = await this.withinRows(unique.values(), (focus) => rowsOf(reader, focus));
    const keys = new Set(readable.map(focusKey));
    return new Set(focuses.filter((focus) => keys.has(focusKey(focus))));
  }
}

const focusKey = ({ type, id }: ResourceName): string => localKey(type, id);
