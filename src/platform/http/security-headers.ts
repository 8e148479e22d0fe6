/**
 * Of every answer: no browser takes a resource for a script or a page
 * (https://fetch.spec.whatwg.org/#x-content-type-options-header).
 */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

/** The header that forbids a page everything that `sources` does not allow: no frames, no forms, no other base. */
export const pagePolicy = (sources: string): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
});
