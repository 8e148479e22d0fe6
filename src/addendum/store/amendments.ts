import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { type JsonText } from '../../platform/json/json-text';
import { Slices } from '../../platform/time/slices';
import { memberText } from '../../rpc/member-text';
import { Addenda } from './addenda';
import { AddendumEntries } from '../chain/addendum-entries.repository';
import { AMENDMENT } from '../types/addendum-kinds';
import { type Author } from './authors';
import { diffSnapshots } from '../snapshots/snapshot-diff';

/** The Amendment addenda of a target: the differences of its two latest snapshots (interface, rule 4). */
@Injectable()
export class Amendments {
  constructor(
    private readonly entries: AddendumEntries,
    private readonly addenda: Addenda,
    private readonly slices: Slices,
  ) {}

  /** Stores an Amendment of a target that the open unit of work holds; undefined when it has fewer than two snapshots. */
  async record(target: NativeReference, author: Author): Promise<JsonText | undefined> {
    const [newer, older] = await this.entries.latestSnapshots(target);
    if (newer === undefined || older === undefined) return undefined;
    const [oldSnapshot = '{}', newSnapshot = '{}'] = (
      await this.addenda.textsOf([older.addendumId, newer.addendumId])
    ).map((text) => memberText(text, 'snapshot'));
    const content = JSON.stringify({
      'old-revision': { id: older.addendumId, resourceType: 'SDCAddendum' },
      'new-revision': { id: newer.addendumId, resourceType: 'SDCAddendum' },
    });
    const { entries, text } = await this.slices.run(diffSnapshots(oldSnapshot, newSnapshot));
    return this.addenda.add({ type: AMENDMENT, target, author, content, large: { key: 'diff', text, value: entries } });
  }
}
