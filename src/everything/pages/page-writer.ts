import { Injectable } from '@nestjs/common';
import { type EntryStream, joined } from '../../model/bundle-text';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { type RowLimit } from '../../search/rows/row-limit';
import { LateTexts } from '../../store/late-texts';
import { type EntryPrinter } from '../print/entry-printer';
import { type ListedEntry, type PageOfEntries } from './page-lists';

/** Writes a page: the bodies of its listed versions, if the caller may still read them. */
@Injectable()
export class PageWriter {
  constructor(
    private readonly texts: LateTexts,
    private readonly rows: RowCheck,
    private readonly limits: RowLimits,
  ) {}

  /**
   * @param limit the row filter of the matches
   * @param notes entries before all others
   */
  async write(
    stream: EntryStream,
    { entries, total }: PageOfEntries,
    printer: EntryPrinter,
    { limit, notes }: { readonly limit: RowLimit | undefined; readonly notes: readonly string[] },
  ): Promise<void> {
    const [matches, included] = halves(entries, total);
    const readable = [
      ...(await this.readable(matches, limit)),
      ...(await this.readable(included, await this.limitOf(included))),
    ];
    const listed = readable.map((entry) => ({ ...entry, text: undefined as string | undefined }));
    const printed = this.texts.printed(listed, async (some) => {
      const [ofMatches, ofIncluded] = halves(
        some.map(({ text = '', ...entry }) => ({ ...entry, text })),
        total,
      );
      const texts = [await printer.print(ofMatches, 'match'), await printer.print(ofIncluded, 'include')];
      return texts.filter((text) => text !== '');
    });
    // The first batch is read before anything is sent, so a refusal keeps its status.
    let next = await printed.next();
    for (const note of notes) await stream.write(note);
    for (; next.done !== true; next = await printed.next()) await stream.write(joined('', next.value));
    // If the caller lost access to resources since the first page, a note on the page says how many are missing.
    const hidden = entries.length - readable.length;
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

  private async readable(listed: readonly ListedEntry[], limit: RowLimit | undefined): Promise<readonly ListedEntry[]> {
    if (limit === undefined) return listed;
    const beyond = new Set(await this.rows.beyond(limit, listed));
    return listed.filter((_entry, place) => !beyond.has(place));
  }
}

/** Included resources come after all matches. */
const halves = <E extends Pick<ListedEntry, 'position'>>(entries: readonly E[], total: number): [E[], E[]] => [
  entries.filter(({ position }) => position < total),
  entries.filter(({ position }) => position >= total),
];
