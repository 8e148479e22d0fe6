import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type Schemas } from 'svc-health-client';
import { Fault } from '../../parts/Fault';
import { Panel } from '../../parts/Panel';
import { NewSecret } from './NewSecret';
import { MASK, newSecret, secretsOf, withSecrets } from './settings';
import { useStoreDestination } from './use-store-destination';

/** Turns on the signing of notifications, and changes the secret without a gap: during a rotation both secrets sign. */
export function SecretPanel({ stored }: { readonly stored: Schemas['SvcTopicDestination'] }): ReactElement {
  const store = useStoreDestination();
  const [fresh, setFresh] = useState<string>();
  const change = useMutation({
    mutationFn: async (secret: string | undefined) => {
      const kept = secretsOf(stored) === 0 ? [] : [MASK];
      await store(withSecrets(stored, secret === undefined ? [MASK] : [secret, ...kept]));
      setFresh(secret);
    },
  });
  const count = secretsOf(stored);
  return (
    <Panel title="Signature">
      <div className="stack">
        <p>
          {count === 0
            ? 'Nothing is signed: receivers cannot tell who sent a notification.'
            : count === 1
              ? 'One secret signs each notification.'
              : 'Two secrets sign each notification: the new one, and the one that receivers still know.'}
        </p>
        <div className="row">
          {count < 2 ? (
            <button
              type="button"
              className="button"
              disabled={change.isPending}
              onClick={() => change.mutate(newSecret())}
            >
              {count === 0 ? 'Add a secret' : 'Rotate the secret'}
            </button>
          ) : (
            <button
              type="button"
              className="button"
              disabled={change.isPending}
              onClick={() => change.mutate(undefined)}
            >
              End the rotation: drop the old secret
            </button>
          )}
        </div>
        {count === 2 && <p className="fine">End it when all receivers check signatures by the new secret.</p>}
        {change.error !== null && <Fault error={change.error} what="the secret" />}
      </div>
      {fresh !== undefined && <NewSecret secret={fresh} isRotating={count > 1} onKept={() => setFresh(undefined)} />}
    </Panel>
  );
}
