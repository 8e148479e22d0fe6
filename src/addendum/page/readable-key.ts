/** Names of the codes that documents use as keys. Source: http://hl7.org/fhir/R4/observation-vitalsigns.html */
const VITAL_SIGNS: ReadonlyMap<string, string> = new Map([
  ['85353-1', 'Vital signs'],
  ['9279-1', 'Respiratory rate'],
  ['8867-4', 'Heart rate'],
  ['2708-6', 'Oxygen saturation'],
  ['8310-5', 'Body temperature'],
  ['8302-2', 'Body height'],
  ['9843-4', 'Head circumference'],
  ['29463-7', 'Body weight'],
  ['39156-5', 'Body mass index'],
  ['85354-9', 'Blood pressure'],
  ['8480-6', 'Systolic blood pressure'],
  ['8462-4', 'Diastolic blood pressure'],
]);

/** Keys of words, with hyphens or underscores or in camel case. Other keys are codes, some with a name above. */
const WORDS = /^[a-z]+(?:[-_ ][a-z]+)*$/i;

/** Returns a key as people read it: `cancelReason` as `Cancel reason`, `loinc-8867-4` as `Heart rate`. */
export function readableKey(key: string): string {
  if (!WORDS.test(key)) return VITAL_SIGNS.get(key.replace(/^loinc-/, '')) ?? key;
  const words = key.replace(/([a-z])(?=[A-Z])/g, '$1 ').replaceAll(/[-_]/g, ' ');
  const [first = '', ...rest] = words.split(' ');
  const isShouted = (word: string): boolean => word.length > 1 && word === word.toUpperCase();
  return [
    isShouted(first) ? first : `${first.charAt(0).toUpperCase()}${first.slice(1)}`,
    ...rest.map((word) => (isShouted(word) ? word : word.toLowerCase())),
  ].join(' ');
}
