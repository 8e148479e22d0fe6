import { useQueryClient } from '@tanstack/react-query';
import { type Schemas } from 'svc-health-client';
import { useClient } from '../../app/session';

type Destination = Schemas['SvcTopicDestination'];

/**
 * Stores a destination. An existing one must still have the version that was read, and the id of a new one must be
 * free. The answer is requested without a body, since the body would show the stored header values to a caller who may
 * update the destination.
 */
export function useStoreDestination(): (destination: Destination) => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  return async (destination) => {
    const { id = '', meta } = destination;
    await client.request('PUT', `/fhir/SvcTopicDestination/${encodeURIComponent(id)}`, {
      body: destination,
      headers: {
        Prefer: 'return=minimal',
        ...(meta?.versionId === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `W/"${meta.versionId}"` }),
      },
    });
    await queries.invalidateQueries({ queryKey: ['destination', id] });
  };
}
