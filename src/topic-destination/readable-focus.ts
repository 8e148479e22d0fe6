import { Injectable } from '@nestjs/common';
import { RequestContext } from '../platform/http/request-context';
import { EntryAccesses } from '../resource/entry-access.registry';
import { RowCheck } from '../resource/rows/row-check';
import { RowLimits } from '../resource/rows/row-limits';
import { principalOf } from './destination-principal';

interface Focus {
  readonly type: string;
  readonly id: string;
}

/** Which resources the caller may be told of: those that he may read. */
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
    const decided = new Map<string, Promise<boolean>>();
    const readable = new Set<F>();
    for (const focus of focuses) {
      const key = `${focus.type}/${focus.id}`;
      const decision = decided.get(key) ?? this.mayRead(focus);
      decided.set(key, decision);
      if (await decision) readable.add(focus);
    }
    return readable;
  }

  private async mayRead(focus: Focus): Promise<boolean> {
    const { caller } = this.requests;
    if (caller === undefined) return false;
    const rows = await this.access.readableBy(principalOf(caller), focus);
    if (rows === undefined || rows === 'all') return rows === 'all';
    return this.rows.isGranted(await this.limits.of(rows), focus);
  }
}
