/**
 * The parameter that tells when a resource happened, for types that have several: the first of these. What was ordered,
 * written or recorded for a person comes before what is planned; lifetimes (Patient's birthdate, a Medication's expiration)
 * are no clinical date, so persons and things sort by their creation.
 */
const mainDateCodes = [
  'authoredon',
  'authored-on',
  'authored',
  'date',
  'created',
  'sent',
  'onset-date',
  'occurrence',
  'effective',
  'effective-time',
  'whenhandedover',
  'started',
  'start-date',
  'start',
  'collected',
  'datetime',
  'datewritten',
  'recorded',
  'identified',
  'issued',
  'timestamp',
  'period',
];

/** Of the date parameters of one type, the code of the one that tells its main date. */
export function mainDateCodeOf(dateCodes: readonly string[]): string | undefined {
  return mainDateCodes.find((code) => dateCodes.includes(code));
}
