import { type Migration } from '../migration';

/**
 * Removes the priority classes of destinations (ADR 0037). A server that still uses them gets an error when it claims a
 * batch.
 */
export const dropSuspectDestinations: Migration = {
  name: 'DropSuspectDestinations1795000000110',
  statements: ['alter table destination_runtime drop column is_suspect'],
};
