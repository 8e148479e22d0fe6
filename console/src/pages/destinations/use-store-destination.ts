import { useQueryClient } from '@tanstack/react-query';
import { type Schemas } from 'svc-health-client';
import { useClient } from '../../app/session';

type Destination = Schemas['SvcTopicDestination'];

/**
 * Stores a destination if it still has the version that was read, a new one if its id is free. The answer is left out:
 * it would show the values of headers to a caller who may update them.
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
