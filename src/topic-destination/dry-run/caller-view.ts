import { Injectable } from '@nestjs/common';
import { EntryAccesses } from '../../resource/entry-access.registry';
import { RequestContext } from '../../platform/http/request-context';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { principalOf } from '../destination-principal';

interface NamedRow {
  readonly type: string;
  readonly id: string;
}

/** What the caller may read, asked of the policies as for a destination that he makes: it would hear of nothing else. */
@Injectable()
export class CallerView {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /** Keys (`Patient/p7`) of what may be read. Of what is deleted no limited caller hears. */
  async readable(named: readonly NamedRow[]): Promise<ReadonlySet<string>> {
    const { caller } = this.requests;
    const unique = [...new Map(named.map((row) => [keyOf(row), row])).values()];
    if (caller === undefined) return new Set(unique.map(keyOf));
    const readable = new Set<string>();
    const limited = new Map<string, { readonly criteria: readonly string[]; readonly rows: NamedRow[] }>();
    for (const row of unique) {
      const granted = await this.access.readableBy(principalOf(caller), row);
      if (granted === 'all') readable.add(keyOf(row));
      else if (granted !== undefined) {
        const name = JSON.stringify(granted);
        const group = limited.get(name) ?? { criteria: granted, rows: [] };
        group.rows.push(row);
        limited.set(name, group);
      }
    }
    for (const { criteria, rows } of limited.values()) {
      const limit = await this.limits.of(criteria);
      const beyond = limit === undefined ? [] : await this.rows.beyond(limit, rows);
      rows.filter((_row, place) => !beyond.includes(place)).forEach((row) => readable.add(keyOf(row)));
    }
    return readable;
  }
}

const keyOf = ({ type, id }: NamedRow): string => `${type}/${id}`;
