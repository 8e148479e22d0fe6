import { type Produce, type TextSink } from '../platform/http/send-body';
import { type ResourceText } from './stored-resource';

type Members = Readonly<Record<string, unknown>>;

/**
 * Prints a Bundle of entries that are JSON text already. FHIR has no empty arrays, so a Bundle without entries has no
 * member `entry`.
 */
export function bundleText(type: string, members: Members, entries: readonly string[] = []): string {
  const head = JSON.stringify({ resourceType: 'Bundle', type, ...members });
  return entries.length === 0 ? head : `${withCommas(`${head.slice(0, -1)},"entry":[`, entries)}]}`;
}

/** Writes a Bundle, or lines of NDJSON, while entries are read. */
export class EntryStream {
  private hasEntries = false;

  /** @param head the Bundle without its entries; undefined for NDJSON */
  constructor(
    private readonly sink: TextSink,
    private readonly head: string | undefined,
  ) {}

  /**
   * It is not async: while a slow client reads, the frame of an async function would keep the text in memory.
   * @param text any number of printed entries
   */
  write(text: string): Promise<void> {
    if (text === '') return Promise.resolve();
    const before = this.hasEntries ? ',' : `${this.opening},"entry":[`;
    this.hasEntries = true;
    return this.sink.write(this.head === undefined ? text : `${before}${text}`);
  }

  /** @param last JSON text of members after the entries, such as `,"total":5` */
  async end(last = ''): Promise<void> {
    if (this.head !== undefined) await this.sink.write(`${this.hasEntries ? ']' : this.opening}${last}}`);
  }

  private get opening(): string {
    return this.head?.slice(0, -1) ?? '';
  }
}

/** Prints a Bundle while its entries arrive, a few at a time. Their texts are joined without parsing them. */
export function produceBundle(
  type: string,
  members: Members,
  entries: AsyncIterable<string[]> | Iterable<string[]>,
): Produce {
  return async (sink) => {
    const bundle = new EntryStream(sink, bundleText(type, members));
    for await (const some of entries) await bundle.write(joined('', some));
    await bundle.end();
  };
}

/**
 * Joins texts with commas, and empties the list. Otherwise the loop of a caller would keep its texts in memory while a
 * slow client reads the result.
 */
export const joined = (before: string, texts: string[]): string => withCommas(before, texts.splice(0));

/** `+` costs a few bytes for each text. It copies the texts once, when the result is sent; `join` copies them twice. */
const withCommas = (before: string, texts: readonly string[]): string =>
  texts.reduce((all, text, index) => `${all}${index === 0 ? '' : ','}${text}`, before);

/** Prints an entry of a searchset (http://hl7.org/fhir/R4/search.html#inclusions). */
export const searchEntry = (
  rootUrl: string,
  { type, id, text }: ResourceText,
  mode: 'match' | 'include',
  extension = '',
): string =>
  `{"fullUrl":${JSON.stringify(`${rootUrl}/${type}/${id}`)},"resource":${text},"search":{${extension}"mode":"${mode}"}}`;

/** Says what is missing from the searchset (http://hl7.org/fhir/R4/search.html#outcome). */
export const outcomeEntry = (issue: readonly object[]): string =>
  JSON.stringify({ resource: { resourceType: 'OperationOutcome', issue }, search: { mode: 'outcome' } });
