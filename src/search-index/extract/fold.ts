/**
 * How texts of string parameters are stored and compared: without case and accents, white space as single spaces
 * (http://hl7.org/fhir/R4/search.html#string). Stored rows hold these texts: the function must never change.
 */
export function foldText(text: string): string {
  // Nearly all texts of a chart are ASCII, which has no accents to take off.
  const plain = isAscii.test(text)
    ? text
    : text
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .normalize('NFC');
  return plain.toLowerCase().replace(/\s+/g, ' ').trim();
}

const isAscii = /^[\s!-~]*$/;
