import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { type RowLimit } from '../../resource/rows/row-limit';
import { type EntryPrinter } from '../print/entry-printer';
import { type EntryStream } from '../print/entry-stream';
import { chunked } from '../read/chunks';
import { type Entry } from '../plan/entry';
import { type ListedEntry, type PageOfEntries } from './page-lists';
import { versionsWithin } from './page-statements';

/** Writes the pages of lists: the versions that were listed, as far as the caller may still read them. */
@Injectable()
export class PageWriter {
  constructor(private readonly statements: Statements) {}

  async write(
    stream: EntryStream,
    { entries, total }: PageOfEntries,
    printer: EntryPrinter,
    limit: RowLimit | undefined,
  ): Promise<void> {
    let hidden = 0;
    for (const listed of chunked(entries)) {
      const found = await this.read(listed, limit);
      hidden += listed.length - found.length;
      const texts = found.map((entry) => printer.print([entry], entry.position < total ? 'match' : 'include'));
      if (texts.length > 0) await stream.write(texts.join(printer.between));
    }
    if (hidden > 0) await stream.write(hiddenEntry(hidden));
    await stream.end();
  }

  private async read(
    listed: readonly ListedEntry[],
    limit: RowLimit | undefined,
  ): Promise<readonly (Entry & ListedEntry)[]> {
    const columns = [listed.map(({ type }) => type), listed.map(({ id }) => id), listed.map(({ version }) => version)];
    const { statement, values } = versionsWithin(limit, columns);
    const rows = await this.statements.run<{ place: number; body: string | null }>(statement, values);
    return rows.flatMap(({ place, body }) => {
      const entry = listed[place - 1];
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
