import { ServiceError } from '../platform/errors/service-error';

/** Tells apart what never was from what was deleted (http://hl7.org/fhir/R4/http.html#read). */
export const notStored = (type: string, id: string, wasDeleted: boolean): ServiceError =>
  wasDeleted
    ? new ServiceError('gone', `Resource ${type}/${id} was deleted. GET /${type}/${id}/_history shows its versions.`)
    : new ServiceError('not-found', `Resource ${type}/${id} not found. Check the id, or search with GET /${type}.`);
