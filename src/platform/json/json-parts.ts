/**
 * JSON text that may be too long for memory: its parts, joined, are one valid, compact JSON value. Check everything
 * that can be refused before you create it, since a failing part ends the answer.
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
