/** Where users read what of FHIR this server does not have, and what to use instead. */
export const UNSERVED_PAGE = 'docs/interface/open-points.md, "Not served".';

/** A sentence for refusals of a media type: many clients ask for XML first. */
export const xmlHint = (mediaType: string | null | undefined): string =>
  /xml/i.test(mediaType ?? '') ? ` XML is not served: ${UNSERVED_PAGE}` : '';
