/** Types for the part of this package that the server uses. The package itself has no types. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** Returns those values of `available` that the header `Accept` allows, the best first. */
    mediaTypes(available: readonly string[]): string[];
    /** Returns those values of `available` that the header `Accept-Encoding` allows, the best first. */
    encodings(available: readonly string[]): string[];
  }
}
