/** The package has no types. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** The values of `available` that the header `Accept` allows, the best first. */
    mediaTypes(available: readonly string[]): string[];
    /** The same for `Accept-Encoding`. */
    encodings(available: readonly string[]): string[];
  }
}
