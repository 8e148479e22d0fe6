import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { type TextSink } from '../platform/http/send-stream';
import { type RowLimit } from '../resource/rows/row-limit';
import { type Member } from './chart-reader';
import { batchesOf } from './large-charts';
import { type MemberPrinter } from './member-printer';
import { type PageEntry, type PageOfEntries } from './page-lists';
import { versionsWithin } from './page-statements';

export interface PageToWrite {
  readonly page: PageOfEntries;
  /** The members of the Bundle but `entry`, as JSON text without its closing brace. */
  readonly head: string;
  readonly printer: MemberPrinter;
  readonly limit: RowLimit | undefined;
}

/** Stands between the other members of a Bundle and its first entry. */
export const ENTRIES = ',"entry":[';

/** Writes the pages of lists: the versions that were listed, as far as the caller may still see them. */
@Injectable()
export class ChartPages {
  constructor(private readonly statements: Statements) {}

  async write(sink: TextSink, { page, head, printer, limit }: PageToWrite): Promise<void> {
    let before = `${head}${ENTRIES}`;
    let hidden = 0;
    for (const batch of batchesOf(page.entries)) {
      const members = await this.membersOf(batch, limit);
      hidden += batch.length - members.length;
      if (members.length === 0) continue;
      const texts = members.map((member) => printer.print(member, member.position < page.total ? 'match' : 'include'));
      await sink.write(`${before}${texts.join(',')}`);
      before = ',';
    }
    if (hidden > 0) {
      await sink.write(`${before}${hiddenEntry(hidden)}`);
      before = ',';
    }
    await sink.write(before === ',' ? ']}' : `${head}}`);
  }

  private async membersOf(
    entries: readonly PageEntry[],
    limit: RowLimit | undefined,
  ): Promise<readonly (Member & Pick<PageEntry, 'position'>)[]> {
    const columns = [
      entries.map(({ type }) => type),
      entries.map(({ id }) => id),
      entries.map(({ version }) => version),
    ];
    const { statement, values } = versionsWithin(limit, columns);
    const rows = await this.statements.run<{ place: number; body: string | null }>(statement, values);
    return rows.flatMap(({ place, body }) => {
      const entry = entries[place - 1];
      return entry === undefined || body === null ? [] : [{ ...entry, text: body }];
    });
  }
}

/** Rights may have been withdrawn since the first page: a page that holds less says so. */
const hiddenEntry = (count: number): string =>
  JSON.stringify({
    resource: {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'warning',
          code: 'suppressed',
          diagnostics: `${count} of the resources of this page may not be read any more by this caller.`,
        },
      ],
    },
    search: { mode: 'outcome' },
  });
