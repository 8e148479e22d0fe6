import { useQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { useClient } from '../../app/session';
import { Panel } from '../../parts/Panel';

/** The public health of the server, for Users who may not see more. */
export function PublicHealth(): ReactElement | null {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['health'],
    queryFn: async () =>
      (await (await client.request('GET', '/health')).json()) as {
        readonly status: string;
        readonly description?: string;
      },
  });
  if (data === undefined) return null;
  return (
    <Panel title="What everybody may see">
      <p>
        Health: <strong>{data.status}</strong>
        {data.description !== undefined && ` · ${data.description}`}
      </p>
      <p className="fine">
        The rest needs a policy for the Operation <code>FhirServerStatus</code>.
      </p>
    </Panel>
  );
}
