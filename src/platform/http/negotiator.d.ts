/** Types of the used part of this package, which has none. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** The `available` values that `Accept` allows, best first. */
    mediaTypes(available: readonly string[]): string[];
    /** The `available` values that `Accept-Encoding` allows, best first. */
    encodings(available: readonly string[]): string[];
  }
}
