import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { useClient } from '../../app/session';
import { Badge } from '../../parts/Badge';
import { Fault } from '../../parts/Fault';
import { TextField } from '../../parts/Field';
import { findingsOf } from './findings';
import css from './destinations.module.css';

const TONES = { pass: 'good', warn: 'warn', fail: 'bad' } as const;
const GRADES = { pass: 'Passed', warn: 'Look at this', fail: 'Failed' } as const;

/** Sends a notification without events, and shows how the receiver behaves. */
export function TestPanel({ id }: { readonly id: string }): ReactElement {
  const client = useClient();
  const [endpoint, setEndpoint] = useState('');
  const test = useMutation({
    mutationFn: async () => findingsOf(await client.destinations.test(id, endpoint === '' ? {} : { endpoint })),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    test.mutate();
  };
  return (
    <form className={`stack ${css.narrow}`} onSubmit={submit}>
      <p className="faint">
        A notification without events goes to the receiver, up to three times: once, once more, and with a wrong
        signature. No total counts it, and the queue is not touched.
      </p>
      <TextField
        label="Another endpoint"
        hint="Leave it empty to test the stored one. The headers are not sent to another one."
        inputMode="url"
        placeholder="https://"
        value={endpoint}
        onChange={(typed) => setEndpoint(typed.trim())}
      />
      <div className="row">
        <button type="submit" className="button primary" disabled={test.isPending}>
          {test.isPending ? 'Sending…' : 'Send a test'}
        </button>
      </div>
      <div role="status">
        {test.data !== undefined && (
          <ul className={css.findings} aria-label="Findings">
            {test.data.map(({ name, grade, message }) => (
              <li key={name}>
                <Badge tone={TONES[grade]}>{GRADES[grade]}</Badge>
                <span>
                  <strong>{name}</strong> {message}
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {test.error !== null && <Fault error={test.error} what="the test" />}
    </form>
  );
}
