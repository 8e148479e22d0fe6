/**
 * Carries JSON text that may be too long to stand in memory: its parts, joined, are one valid, compact JSON value. What can be
 * refused was refused before there was one of these; a part that fails cuts the answer off.
 */
export class JsonParts {
  constructor(readonly parts: AsyncIterable<string>) {}
}
