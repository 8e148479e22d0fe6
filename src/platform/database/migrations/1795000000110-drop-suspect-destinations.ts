import { type Migration } from '../migration';

/** Destinations have no priority classes any more (ADR 0037). A server that still runs with them fails its claims aloud. */
export const dropSuspectDestinations: Migration = {
  name: 'DropSuspectDestinations1795000000110',
  statements: ['alter table destination_runtime drop column is_suspect'],
};
