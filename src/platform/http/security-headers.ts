/**
 * On every response: browsers must not treat a resource as a script or a page
 * (https://fetch.spec.whatwg.org/#x-content-type-options-header).
 */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

/** Allows a page to load only `sources`, and forbids frames, forms and another base. */
export const pagePolicy = (sources: string): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
});
