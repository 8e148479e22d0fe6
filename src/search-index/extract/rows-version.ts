/**
 * Versions of the code that makes index rows. Raise one if a change of code gives other rows for some resource; until
 * then `golden-rows.spec.ts` fails. The next start then rebuilds the rows of stored resources in the background (ADR
 * 0051).
 */
export const ROWS_VERSIONS = {
  /** How values are found in a resource, and which rows they give. */
  extraction: 1,
  /** How texts are folded. */
  folding: 1,
  /** How values are hashed. */
  hashing: 1,
} as const;
