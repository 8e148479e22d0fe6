import { ServiceError } from '../platform/errors/service-error';

/**
 * The error for a resource that is not stored. 'gone' means that it was deleted, 'not-found' that it never existed
 * (http://hl7.org/fhir/R4/http.html#read).
 */
export const notStored = (type: string, id: string, wasDeleted: boolean): ServiceError =>
  wasDeleted
    ? new ServiceError(
        'resource-deleted',
        `Resource ${type}/${id} was deleted. GET /${type}/${id}/_history shows its versions.`,
      )
    : new ServiceError(
        'resource-not-found',
        `Resource ${type}/${id} not found. Check the id, or search with GET /${type}.`,
      );
