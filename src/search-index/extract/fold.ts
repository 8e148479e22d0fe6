/**
 * Folds texts of string parameters for storage and comparison: no case, no accents, white space as single spaces
 * (http://hl7.org/fhir/R4/search.html#string). Stored rows hold the result, so a change must raise `folding` in
 * rows-version.ts.
 */
export function foldText(text: string): string {
  // Nearly all clinical texts are ASCII and have no accents to remove.
  const plain = isAscii.test(text)
    ? text
    : text
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .normalize('NFC');
  return plain.toLowerCase().replace(/\s+/g, ' ').trim();
}

const isAscii = /^[\s!-~]*$/;
