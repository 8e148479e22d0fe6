import { Injectable } from '@nestjs/common';
import { ResourceReader } from '../resource-reader';
import { ResourceWriter } from '../resource-writer';
import { type EntryResult, type PlannedStore, type PlannedWrite } from './planned-write';

/**
 * Writes of a transaction that cannot be part of its set: a patch, the second write of one id, and what refers by search
 * to what the set has stored. One after the other, in the order of the entries.
 */
@Injectable()
export class SingleWrites {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly reader: ResourceReader,
  ) {}

  async write(write: PlannedWrite): Promise<EntryResult> {
    const { type, id, options } = write;
    switch (write.mode) {
      case 'nothing':
        return { status: 204 };
      case 'existing':
        return { status: 200, resource: await this.reader.read(type, id) };
      case 'patch':
        return { status: 200, resource: (await this.writer.patch(type, id, write.patch, options)).resource };
      case 'delete':
        return this.delete(write);
      case 'late':
        return this.store({ ...write, mode: write.lateMode, draft: await write.makeDraft() });
      case 'create':
      case 'put':
        return this.store(write);
    }
  }

  private async delete({ type, id, options }: PlannedWrite): Promise<EntryResult> {
    const deleted = await this.writer.delete(type, id, options);
    if (deleted === undefined) return { status: 204 };
    return { status: 200, resource: deleted, version: deleted.version + 1, updatedAt: deleted.updatedAt };
  }

  private async store(write: Omit<PlannedStore, 'rule'>): Promise<EntryResult> {
    const { id, draft, options, method } = write;
    draft.assignId(id);
    if (write.mode === 'create') {
      return { status: 201, resource: await this.writer.create(draft, { ...options, method }) };
    }
    const { outcome, resource } = await this.writer.put(draft, id, { ...options, method });
    return { status: outcome === 'created' ? 201 : 200, resource };
  }
}
