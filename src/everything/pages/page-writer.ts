import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { type RowLimit } from '../../search/rows/row-limit';
import { RowLimits } from '../../resource/rows/row-limits';
import { type EntryPrinter } from '../print/entry-printer';
import { chunked } from '../read/chunks';
import { type Entry } from '../plan/entry';
import { type ListedEntry, type PageOfEntries } from './page-lists';
import { versionsWithin } from './page-statements';
import { type EntryStream } from '../../model/bundle-text';

/** Writes a page: the bodies of its listed versions, if the caller may still read them. */
@Injectable()
export class PageWriter {
  constructor(
    private readonly statements: Statements,
    private readonly limits: RowLimits,
  ) {}

  /** @param limit the row filter of the matches */
  async write(
    stream: EntryStream,
    { entries, total }: PageOfEntries,
    printer: EntryPrinter,
    limit: RowLimit | undefined,
  ): Promise<void> {
    const matches = entries.filter(({ position }) => position < total);
    const included = entries.filter(({ position }) => position >= total);
    const parts = [
      { mode: 'match', listed: matches, readable: limit },
      { mode: 'include', listed: included, readable: await this.limitOf(included) },
    ] as const;
    let hidden = 0;
    for (const { mode, listed, readable } of parts)
      for (const chunk of chunked(listed)) {
        const found = await this.read(chunk, readable);
        hidden += chunk.length - found.length;
        if (found.length > 0) await stream.write(await printer.print(found, mode));
      }
    // If the caller lost access to resources since the first page, a note on the page says how many are missing.
    if (hidden > 0)
      await stream.write(
        printer.outcome(`${hidden} of the resources of this page may not be read any more by this caller.`),
      );
    await stream.end();
  }

  private async limitOf(included: readonly ListedEntry[]): Promise<RowLimit | undefined> {
    if (included.length === 0) return undefined;
    return (await (await this.limits.reach()).ofTypes(included.map(({ type }) => type))).limit;
  }

  private async read(listed: readonly ListedEntry[], limit: RowLimit | undefined): Promise<readonly Entry[]> {
    const columns = [listed.map(({ type }) => type), listed.map(({ id }) => id), listed.map(({ version }) => version)];
    const { statement, values } = versionsWithin(limit, columns);
    const rows = await this.statements.run<{ place: number; body: string | null }>(statement, values);
    return rows.flatMap(({ place, body }) => {
      const entry = listed[place - 1];
      return entry === undefined || body === null ? [] : [{ ...entry, text: body }];
    });
  }
}
