import { earliestInstant, latestInstant } from '../fhir/instant';
import { isFhirId } from '../fhir/reference';
import { ServiceError } from '../platform/errors/service-error';
import { type HistoryPosition } from './history-statements';

/**
 * Prints a position as the text that links hold; its content has no meaning for clients. The id is last, since only the
 * id may hold dots.
 */
export const printHistoryPosition = ({ updatedAt, type, version, id }: HistoryPosition): string =>
  `${updatedAt.getTime().toString(36)}.${type}.${version}.${id}`;

/** @throws ServiceError 'invalid' for a text that this server did not make */
export function parseHistoryPosition(text: string): HistoryPosition {
  const [, time = '', type = '', version = '', id = ''] =
    /^(-?[0-9a-z]{1,11})\.([A-Za-z]{1,64})\.(\d{1,9})\.(.*)$/.exec(text) ?? [];
  const milliseconds = parseInt(time, 36);
  if (milliseconds >= earliestInstant && milliseconds <= latestInstant && isFhirId(id)) {
    return { updatedAt: new Date(milliseconds), type, id, version: Number(version) };
  }
  throw new ServiceError(
    'page-link-invalid',
    '_before and _after are made by the server for its links; begin again at the first page.',
  );
}
