import { type Produce } from '../platform/http/send-body';
import { type ResourceText } from './stored-resource';

type Members = Readonly<Record<string, unknown>>;

/**
 * Prints a Bundle of entries that are JSON text already. FHIR has no empty arrays, so a Bundle without entries has no
 * member `entry`.
 */
export function bundleText(type: string, members: Members, entries: readonly string[] = []): string {
  const head = JSON.stringify({ resourceType: 'Bundle', type, ...members });
  return entries.length === 0 ? head : `${head.slice(0, -1)},"entry":[${entries.join(',')}]}`;
}

/** Prints a Bundle while its entries arrive, a few at a time. Their texts are joined without parsing them. */
export function produceBundle(
  type: string,
  members: Members,
  entries: AsyncIterable<string[]> | Iterable<string[]>,
): Produce {
  return async (sink) => {
    const head = bundleText(type, members);
    let before = `${head.slice(0, -1)},"entry":[`;
    let end = head;
    for await (const some of entries) {
      if (some.length === 0) continue;
      await sink.write(joined(before, some));
      before = ',';
      end = ']}';
    }
    await sink.write(end);
  };
}

/**
 * Joins texts with commas, and empties the list. Otherwise the loop of a caller would keep its texts in memory while a
 * slow client reads the result. `+` costs a few bytes for each text, and copies the texts once, when the result is
 * sent; `join` would copy them twice.
 */
export const joined = (before: string, texts: string[]): string =>
  texts.splice(0).reduce((all, text, index) => `${all}${index === 0 ? '' : ','}${text}`, before);

/** Prints an entry of a searchset (http://hl7.org/fhir/R4/search.html#inclusions). */
export const searchEntry = (
  rootUrl: string,
  { type, id, text }: ResourceText,
  mode: 'match' | 'include',
  extension = '',
): string =>
  `{"fullUrl":${JSON.stringify(`${rootUrl}/${type}/${id}`)},"resource":${text},"search":{${extension}"mode":"${mode}"}}`;
