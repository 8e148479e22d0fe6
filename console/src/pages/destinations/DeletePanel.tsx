import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useClient } from '../../app/session';
import { goTo, hashOf } from '../../app/routes';
import { Dialog } from '../../parts/Dialog';
import { Fault } from '../../parts/Fault';
import { whole } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';

/** Deletes a webhook after a confirmation, which says what is lost. */
export function DeletePanel({ id }: { readonly id: string }): ReactElement {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <Panel title="Delete">
      <div className="stack">
        <p>Ends the delivery, and drops what was not delivered.</p>
        <div className="row">
          <button type="button" className="button danger" onClick={() => setIsAsked(true)}>
            Delete this webhook
          </button>
        </div>
      </div>
      {isAsked && <Question id={id} onClose={() => setIsAsked(false)} />}
    </Panel>
  );
}

function Question({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactElement {
  const client = useClient();
  const queries = useQueryClient();
  const status = useQuery({
    queryKey: ['destination', id, 'status'],
    queryFn: () => client.destinations.status(id),
  });
  const remove = useMutation({
    mutationFn: () => client.destinations.delete(id),
    onSuccess: () => {
      goTo(hashOf('destinations'), true);
      queries.removeQueries({ queryKey: ['destination', id] });
      void queries.invalidateQueries({ queryKey: ['destinations'] });
    },
  });
  const { messagesQueued = 0, messagesInProcess = 0, messagesDelivered = 0 } = status.data ?? {};
  const waiting = messagesQueued + messagesInProcess;
  return (
    <Dialog title={`Delete ${id}?`} onClose={onClose}>
      <p>These are lost, and cannot be brought back:</p>
      <ul>
        <li>
          {status.data === undefined
            ? 'events that are not delivered yet'
            : waiting === 0
              ? 'no event: all are delivered'
              : `${whole(waiting)} ${waiting === 1 ? 'event that is' : 'events that are'} not delivered`}
        </li>
        <li>
          the way of {status.data === undefined ? 'the' : `its ${whole(messagesDelivered)}`} delivered events, which
          could be sent again
        </li>
        <li>its headers and its secrets</li>
      </ul>
      <p className="fine">Its versions stay in the history of the server, with *** in place of secrets.</p>
      {remove.error !== null && <Fault error={remove.error} what="that it was deleted" />}
      <div className="row">
        <button type="button" className="button danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          {waiting === 0 ? 'Delete it' : `Delete it and drop ${whole(waiting)}`}
        </button>
        <button type="button" className="button" data-focus onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
