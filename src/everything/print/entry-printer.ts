import { type Subset, subsetOf } from '../../fhir/subset/subset';
import { type Slices } from '../../platform/time/slices';
import { outcomeEntry, searchEntry } from '../../model/bundle-text';
import { type QueryPart } from '../plan/query-parts';
import { type Entry } from '../plan/entry-rows';
import { type Reasons } from './reasons';

/** Prints entries as Bundle entries, or as lines of NDJSON. */
export class EntryPrinter {
  /** @param subset the requested part of each resource; undefined for whole resources */
  constructor(
    private readonly rootUrl: string,
    private readonly reasons: Reasons,
    private readonly subset: Subset | undefined,
    readonly isLines: boolean,
    private readonly slices: Slices,
  ) {}

  /**
   * @returns the printed entries. Strings are joined by `+`, which copies no text; the text is copied once, when it is
   * sent. The database could join them too, but to send it the texts between costs this process more than it saves.
   */
  async print(entries: readonly Entry[], mode: QueryPart['mode']): Promise<string> {
    const { rootUrl, reasons, subset, isLines } = this;
    let printed = '';
    for (const entry of entries) {
      const text = subset === undefined ? entry.text : await this.slices.run(subsetOf(entry.text, subset));
      if (isLines) printed += `${text}\n`;
      else {
        const printedEntry = searchEntry(rootUrl, { ...entry, text }, mode, reasons[mode](entry.parameters));
        printed += printed === '' ? printedEntry : `,${printedEntry}`;
      }
    }
    return printed;
  }

  /** Prints an OperationOutcome that says what is missing from the answer. */
  outcome(diagnostics: string): string {
    const issue = [{ severity: 'warning', code: 'suppressed', diagnostics }];
    return this.isLines ? `${JSON.stringify({ resourceType: 'OperationOutcome', issue })}\n` : outcomeEntry(issue);
  }
}
