/**
 * JSON text that may be too long for memory. Its parts, joined together, are one valid, compact JSON value. Make all
 * checks that can refuse the request before you create it: if a part fails later, the answer is cut off.
 * @example
 * async function* parts(): AsyncGenerator<string> {
 *   yield '[';
 *   for (const id of ['4A', '4B']) yield (id === '4A' ? '' : ',') + (await reader.read('Ward', id)).text;
 *   yield ']';
 * }
 * const result = new JsonParts(parts());
 */
export class JsonParts {
  constructor(readonly parts: AsyncIterable<string>) {}
}
