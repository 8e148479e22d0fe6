import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ServerSetup } from '../platform/database/server-setup';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { LIST_BATCH } from '../resource/search/live/live-parameter-statements';
import { deleteRows, insertRows } from '../resource/search/live/parameter-rows';
import { SearchIndex } from '../resource/search/search-index';
import { ResourceStore } from '../resource/store/resource-store';

const TYPE = 'SDCWorkflow';
const BATCH_SIZE = 200;

/** Version 0.1.0 allowed one patient, whose hash stood in every token row. */
const CLEAR_PATIENTS: Statement = {
  name: 'workflow-index-clear-patients',
  text: `update search_token s set patient_hash = 0 from unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) u(hash, main_date, key)
    where s.token_hash = u.hash and s.main_date = u.main_date and s.resource_key = u.key and s.patient_hash <> 0`,
};

const SET_PRESENT: Statement = {
  name: 'workflow-index-set-present',
  text: `update resource r set present = u.present from unnest($1::bigint[], $2::bigint[]) u(key, present)
    where r.resource_key = u.key and r.present <> u.present`,
};

/**
 * Rebuilds the search index rows of the workflows that version 0.1.0 stored. It indexed `ctx.patient` alone, so a workflow
 * with `patient` was missing from `$everything`, and an update compares index rows that are taken as complete.
 */
@Injectable()
export class WorkflowIndexSetup implements OnApplicationBootstrap {
  private readonly logger = new Logger(WorkflowIndexSetup.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly statements: Statements,
    private readonly store: ResourceStore,
    private readonly index: SearchIndex,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.setup.once('workflow-index', async () => {
      let count = 0;
      let ids = await this.idsAfter('');
      while (ids.length > 0) {
        await this.rebuild(ids);
        count += ids.length;
        ids = await this.idsAfter(ids.at(-1) ?? '');
      }
      if (count > 0) this.logger.log(`Rebuilt the search index of ${count} SDCWorkflow resources`);
    });
  }

  private async idsAfter(id: string): Promise<string[]> {
    return (await this.statements.run<{ id: string }>(LIST_BATCH, [TYPE, id, BATCH_SIZE])).map((row) => row.id);
  }

  private async rebuild(ids: readonly string[]): Promise<void> {
    const index = await this.index.current();
    const locked = await this.store.lockAll(ids.map((id) => ({ type: TYPE, id })));
    const resources = locked.flatMap(({ current }) => {
      if (current === undefined) return [];
      const found = index.rowsOf(TYPE, current.value);
      // Rows of live parameters that are being built are their job's.
      return [{ key: current.key, mainDate: current.mainDate, rows: found.unsettled?.certain ?? found }];
    });
    const tokens = resources.flatMap(({ key, mainDate, rows }) =>
      rows.tokens.map(({ hash }) => [hash, mainDate.toISOString(), key]),
    );
    await this.statements.run(
      CLEAR_PATIENTS,
      [0, 1, 2].map((column) => tokens.map((token) => token[column])),
    );
    for (const { statement, values } of [...deleteRows(resources), ...insertRows(resources)])
      await this.statements.run(statement, values);
    await this.statements.run(SET_PRESENT, [
      resources.map(({ key }) => key),
      resources.map(({ rows }) => rows.present.toString()),
    ]);
  }
}
