/**
 * For every response: no browser treats a resource as a script or a page
 * (https://fetch.spec.whatwg.org/#x-content-type-options-header).
 */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

/** The header that allows a page only `sources`: no frames, no forms, no other base. */
export const pagePolicy = (sources: string): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
});
