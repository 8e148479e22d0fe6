import { useQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Panel } from '../../parts/Panel';
import { Time } from '../../parts/Time';
import { requestText } from './refused-request';
import css from './access.module.css';

/** The latest refusals by policies, of one User or of all. Each leads to its decision. */
export function Refusals({ user }: { readonly user?: string }): ReactElement {
  const { client, userId } = useSession();
  const list = useQuery({
    queryKey: ['refusals', userId, user],
    queryFn: () => client.access.decisions(user === undefined ? {} : { user }),
    retry: false,
    staleTime: 0,
  });
  return (
    <Panel title="Refused lately">
      <Answer of={list} what="the refusals">
        {(refusals) =>
          refusals.length === 0 ? (
            <p className="faint">No request was refused by policies in the latest day.</p>
          ) : (
            <ul className={`${css.plain} ${css.refusals}`}>
              {refusals.map(({ id, at, request }) => (
                <li key={id}>
                  <span className="fine">
                    <Time value={at} as="ago" />
                  </span>
                  <a href={hashOf('access', ['decisions', id])}>{requestText(request)}</a>
                  {user === undefined && <span className="faint">{callerText(request)}</span>}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}

function callerText({ user, client }: Readonly<Record<string, unknown>>): string {
  if (typeof user === 'string') return user;
  return typeof client === 'string' ? `Client ${client}` : '';
}
