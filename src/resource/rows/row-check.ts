import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { Statements } from '../../platform/database/statements';
import { Binder } from '../../store/binder';
import { ResourceStore } from '../../store/resource-store';
import { type RowLimit } from '../../search/rows/row-limit';
import { type ResourceName } from '../../model/stored-resource';

/** Checks that writes stay within the granted rows, on stored rows in the transaction of the write. */
@Injectable()
export class RowCheck {
  constructor(
    private readonly statements: Statements,
    private readonly store: ResourceStore,
  ) {}

  /**
   * Returns the limit to use for these resources. While an index that the limit needs is being built, the index rows of
   * these resources are first rebuilt from their bodies.
   */
  async refreshed(limit: RowLimit, rows: readonly ResourceName[]): Promise<RowLimit> {
    const outdated = rows.filter(({ type }) => limit.needsRefresh(type));
    if (outdated.length > 0) await this.store.refresh(outdated);
    return limit.afterRefresh();
  }

  /** Without a limit, every row is granted. */
  async isGranted(limit: RowLimit | undefined, row: ResourceName): Promise<boolean> {
    return limit === undefined || (await this.beyond(limit, [row])).length === 0;
  }

  /** Positions in `rows` of the rows that are not granted or not stored. */
  async beyond(limit: RowLimit, rows: readonly ResourceName[]): Promise<number[]> {
    if (rows.length === 0) return [];
    const bind = new Binder();
    const types = bind.value(rows.map(({ type }) => type));
    const ids = bind.value(rows.map(({ id }) => id));
    const refreshed = await this.refreshed(limit, rows);
    const test = refreshed.test([...new Set(rows.map(({ type }) => type))], bind);
    const { statement, values } = bind.finish(`select a.place::integer - 1 as place
from unnest(${types}::text[], ${ids}::text[]) with ordinality a(type, id, place)
where (select true from resource c where c.type = a.type and c.id = a.id and ${test} limit 1) is not true order by a.place`);
    return (await this.statements.run<{ place: number }>(statement, values)).map(({ place }) => place);
  }
}

/**
 * The error for a resource that the caller may not write. It is the same for the id of a hidden resource, so that
 * callers cannot distinguish the two.
 */
export const notGranted = (): ServiceError =>
  new ServiceError(
    'rows-not-granted',
    'The criteria of the policies that grant this request do not cover this resource, as stored or as sent.',
  );
