/** The part of the package that is used; it comes without types. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** Those of `available` that `Accept` takes, the best first. */
    mediaTypes(available: readonly string[]): string[];
    /** Those of `available` that `Accept-Encoding` takes, the best first. */
    encodings(available: readonly string[]): string[];
  }
}
