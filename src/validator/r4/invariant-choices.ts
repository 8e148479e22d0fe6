/** Invariants that other code checks instead of their expression, each with the place of that code. */
export const CHECKED_ELSEWHERE: Readonly<Record<string, string>> = {
  'ele-1': 'object-check.ts: an element without any member but id is empty',
  'dom-2': 'resource-validator.ts: a contained resource has no "contained"',
  'dom-3':
    'validation-run.ts: one walk notes all fragments; the expression would walk once for each contained resource',
  'ref-1': 'reference-check.ts',
  'txt-1': 'xhtml.ts',
  'txt-2': 'xhtml.ts',
  'csd-1': 'hand-made-invariants.ts: one walk instead of one for each concept',
  'sdf-8a': 'hand-made-invariants.ts: the library walks all elements for each of them',
  'que-2': 'hand-made-invariants.ts: one walk over the items',
};

/** Invariants that are not checked, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'ctm-1': 'asks what a reference resolves to, which is another resource',
};
