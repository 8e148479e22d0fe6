import { Injectable } from '@nestjs/common';
import { localKey } from '../fhir/reference';
import { type NativeReference } from '../fhir/types';
import { type GrantedRows } from '../platform/http/granted-rows';
import { RequestContext } from '../platform/http/request-context';
import { type Reader } from '../resource/access/entry-access';
import { EntryAccesses } from '../resource/access/entry-access.registry';
import { RowCheck } from '../resource/rows/row-check';
import { RowLimits } from '../resource/rows/row-limits';
import { principalOf } from './destination-principal';

interface Focus {
  readonly type: string;
  readonly id: string;
}

/** Which resources somebody may know of, by the rows that are granted to him now. */
@Injectable()
export class ReadableFocus {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Those that the caller may read, and a destination of his would receive. Deleted ones are left out for callers with row
   * criteria, which cannot be decided without a body.
   */
  among<F extends Focus>(focuses: readonly F[]): Promise<ReadonlySet<F>> {
    return this.of(this.ownPrincipal, focuses, (reader, focus) => reader.rowsOf(focus));
  }

  /**
   * Those that `resolve()` in a criterion may lead to: of types that the principal may search.
   * @param principal of the destination; the caller when absent
   */
  reachable<F extends Focus>(focuses: readonly F[], principal = this.ownPrincipal): Promise<ReadonlySet<F>> {
    return this.of(principal, focuses, (reader, { type }) => reader.searchedRows(type));
  }

  private get ownPrincipal(): NativeReference | undefined {
    const { caller } = this.requests;
    return caller === undefined ? undefined : principalOf(caller);
  }

  /** Asks about each resource once. */
  private async of<F extends Focus>(
    principal: NativeReference | undefined,
    focuses: readonly F[],
    rowsOf: (reader: Reader, focus: F) => Promise<GrantedRows | undefined>,
  ): Promise<ReadonlySet<F>> {
    const reader = principal === undefined ? undefined : await this.access.readerNamed(principal);
    if (reader === undefined) return new Set();
    const unique = new Map(focuses.map((focus) => [localKey(focus.type, focus.id), focus]));
    const byRows = new Map<string, { readonly rows: GrantedRows; readonly focuses: F[] }>();
    for (const focus of unique.values()) {
      const rows = await rowsOf(reader, focus);
      if (rows === undefined) continue;
      const name = JSON.stringify(rows);
      const group = byRows.get(name) ?? { rows, focuses: [] };
      group.focuses.push(focus);
      byRows.set(name, group);
    }
    const readable = new Set<string>();
    for (const { rows, focuses: asked } of byRows.values()) {
      const limit = await this.limits.of(rows);
      const beyond = new Set(limit === undefined ? [] : await this.rows.beyond(limit, asked));
      for (const [place, { type, id }] of asked.entries()) if (!beyond.has(place)) readable.add(localKey(type, id));
    }
    return new Set(focuses.filter(({ type, id }) => readable.has(localKey(type, id))));
  }
}
