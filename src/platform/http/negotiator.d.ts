/** Types for the part of this package that the server uses. The package itself has no types. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** The `available` values that `Accept` allows, best first. */
    mediaTypes(available: readonly string[]): string[];
    /** The `available` values that `Accept-Encoding` allows, best first. */
    encodings(available: readonly string[]): string[];
  }
}
