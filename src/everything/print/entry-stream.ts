import { type TextSink } from '../../platform/http/send-body';

/** Writes a Bundle, or lines of NDJSON, while entries are read. */
export class EntryStream {
  private hasEntries = false;

  /** @param head the members of the Bundle before its entries; undefined for NDJSON */
  constructor(
    private readonly sink: TextSink,
    private readonly head: object | undefined,
  ) {}

  /** @param text one or more printed entries */
  async write(text: string): Promise<void> {
    const before = this.hasEntries ? ',' : `${this.opening},"entry":[`;
    this.hasEntries = true;
    await this.sink.write(this.head === undefined ? text : `${before}${text}`);
  }

  /** @param last JSON text of members after the entries, such as `,"total":5` */
  async end(last = ''): Promise<void> {
    if (this.head !== undefined) await this.sink.write(`${this.hasEntries ? ']' : this.opening}${last}}`);
  }

  /**
   * The beginning of the Bundle. It does not contain `entry`, which is written with the first entry, since FHIR allows
   * no empty arrays.
   */
  private get opening(): string {
    return JSON.stringify({ resourceType: 'Bundle', type: 'searchset', ...this.head }).slice(0, -1);
  }
}
