import { Injectable } from '@nestjs/common';
import { localKey } from '../fhir/reference';
import { type GrantedRows } from '../platform/http/granted-rows';
import { RequestContext } from '../platform/http/request-context';
import { EntryAccesses } from '../resource/entry-access.registry';
import { RowCheck } from '../resource/rows/row-check';
import { RowLimits } from '../resource/rows/row-limits';
import { principalOf } from './destination-principal';

interface Focus {
  readonly type: string;
  readonly id: string;
}

/** Which resources the caller may be told of: those that he may read, and a destination of his would hear of. */
@Injectable()
export class ReadableFocus {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /** Asks about each resource once. Of what was deleted only callers without a limit are told. */
  async among<F extends Focus>(focuses: readonly F[]): Promise<ReadonlySet<F>> {
    const { caller } = this.requests;
    if (caller === undefined) return new Set();
    const reader = await this.access.readerNamed(principalOf(caller));
    if (reader === undefined) return new Set();
    const unique = new Map(focuses.map((focus) => [localKey(focus.type, focus.id), focus]));
    const byRows = new Map<string, { readonly rows: GrantedRows; readonly focuses: F[] }>();
    for (const focus of unique.values()) {
      const rows = await reader.rowsOf(focus);
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
