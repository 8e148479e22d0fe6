import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ServerSetup } from '../platform/database/server-setup';
import { Statements } from '../platform/database/statements';
import { LIST_BATCH } from '../resource/search/live/live-parameter-statements';
import { ResourceStore } from '../resource/store/resource-store';

const TYPE = 'SDCWorkflow';
const BATCH_SIZE = 200;

/**
 * Rebuilds the search index rows of the workflows that version 0.1.0 stored. It indexed `ctx.patient` alone, so a workflow
 * with `patient` was missing from `$everything`.
 */
@Injectable()
export class WorkflowIndexSetup implements OnApplicationBootstrap {
  private readonly logger = new Logger(WorkflowIndexSetup.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly statements: Statements,
    private readonly store: ResourceStore,
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
    const locked = await this.store.lockAll(ids.map((id) => ({ type: TYPE, id })));
    await this.store.reindex(locked.flatMap(({ current }) => current ?? []));
  }
}
