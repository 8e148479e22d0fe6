/**
 * Versions of the code that makes search index rows. Raise one if a code change gives other rows for some resource. The
 * next start then rebuilds the rows of stored resources in the background (ADR 0051). `golden-rows.spec.ts` fails until
 * it is raised.
 */
export const ROWS_VERSIONS = {
  /** How values are found in a resource, and which rows they give. */
  extraction: 1,
  /** How texts are folded. */
  folding: 1,
  /** How values are hashed. */
  hashing: 1,
} as const;
