/**
 * Folds a text for storage and comparison by string parameters: removes case and accents, and makes white space single
 * spaces (http://hl7.org/fhir/R4/search.html#string). Stored rows hold the result, so a change of this function must
 * raise `folding` in rows-version.ts.
 */
export function foldText(text: string): string {
  const plain = text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC');
  return plain.toLowerCase().replace(/\s+/g, ' ').trim();
}
