import { type TextSink } from '../../platform/http/send-body';

/** Writes a Bundle, or lines, while entries are read. */
export class EntryStream {
  private hasEntries = false;

  /** @param head members of the Bundle before its entries; undefined for lines */
  constructor(
    private readonly sink: TextSink,
    private readonly head: object | undefined,
  ) {}

  /** @param text printed entries, at least one */
  async write(text: string): Promise<void> {
    const before = this.hasEntries ? ',' : `${this.opening},"entry":[`;
    this.hasEntries = true;
    await this.sink.write(this.head === undefined ? text : `${before}${text}`);
  }

  /** @param last members after the entries, such as `,"total":5` */
  async end(last = ''): Promise<void> {
    if (this.head !== undefined) await this.sink.write(`${this.hasEntries ? ']' : this.opening}${last}}`);
  }

  /** FHIR has no empty arrays, so `entry` is written with the first entry. */
  private get opening(): string {
    return JSON.stringify({ resourceType: 'Bundle', type: 'searchset', ...this.head }).slice(0, -1);
  }
}
