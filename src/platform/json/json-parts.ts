/**
 * Carries JSON text that may be too long to stand in memory: its parts, joined, are one valid, compact JSON value.
 * Check everything that can be refused before you create it; a part that fails cuts the answer off.
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
