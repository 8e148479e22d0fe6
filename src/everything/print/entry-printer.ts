import { type Subset, subsetOf } from '../../fhir/subset/subset';
import { type Slices } from '../../platform/time/slices';
import { outcomeEntry, searchEntry } from '../../model/bundle-text';
import { type QueryPart } from '../plan/query-parts';
import { type Entry, type EntryHead } from '../plan/entry';
import { type Reasons } from './reasons';

/** Placeholder for the text of a resource. No id or code contains this character. */
const MARK = '\0';

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

  get between(): string {
    return this.isLines ? '' : ',';
  }

  /**
   * @returns the printed entries, separated by {@link between}. Strings are joined by `+`, which copies no text; the
   * text is copied once, when it is sent.
   */
  async print(entries: readonly Entry[], mode: QueryPart['mode']): Promise<string> {
    const { subset, between } = this;
    let printed = '';
    for (const entry of entries) {
      const text = subset === undefined ? entry.text : await this.slices.run(subsetOf(entry.text, subset));
      printed += `${printed === '' ? '' : between}${this.around(entry, text, mode)}`;
    }
    return printed;
  }

  /**
   * Returns the texts before and after the stored text of each entry, so that the database can join them. Undefined if
   * the stored texts are not sent as they are.
   */
  frames(
    heads: readonly EntryHead[],
    mode: QueryPart['mode'],
  ): readonly [before: readonly string[], after: readonly string[]] | undefined {
    if (this.subset !== undefined) return undefined;
    const frames = heads.map((head) => this.around(head, MARK, mode).split(MARK));
    return [frames.map(([before = '']) => before), frames.map(([, after = '']) => after)];
  }

  /** Prints an OperationOutcome that says what is missing from the answer. */
  outcome(diagnostics: string): string {
    const issue = [{ severity: 'warning', code: 'suppressed', diagnostics }];
    return this.isLines ? `${JSON.stringify({ resourceType: 'OperationOutcome', issue })}\n` : outcomeEntry(issue);
  }

  private around({ type, id, parameters }: EntryHead, text: string, mode: QueryPart['mode']): string {
    if (this.isLines) return `${text}\n`;
    return searchEntry(this.rootUrl, { type, id, text }, mode, this.reasons.of(parameters, mode));
  }
}
