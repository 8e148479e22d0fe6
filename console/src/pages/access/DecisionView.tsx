import { useQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { type Decision, SvcError } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Empty } from '../../parts/Empty';
import { Fact } from '../../parts/Fact';
import { Time } from '../../parts/Time';
import { PolicyClause } from './PolicyClause';
import { requestLike } from './refused-request';
import { Caller, VerdictBox } from './TrialResult';
import { noneGrants } from './verdict';
import css from './access.module.css';

/** The recorded reason for a refusal. */
export function DecisionView({ id }: { readonly id: string }): ReactElement {
  const { client, userId } = useSession();
  const decision = useQuery({
    queryKey: ['decision', userId, id],
    queryFn: () => client.access.decision(id),
    staleTime: Infinity,
  });
  if (decision.error instanceof SvcError && decision.error.status === 404)
    return (
      <Empty title="There is no such decision">
        Decisions are kept for a day. If the id is from there, it is an id of something else, such as of the request.
      </Empty>
    );
  return (
    <Answer of={decision} what="the decision">
      {(data) => <Explained decision={data} />}
    </Answer>
  );
}

function Explained({ decision }: { readonly decision: Decision }): ReactElement {
  const { id, at, request, policies, note, more, limited } = decision;
  const text = (name: string): string | undefined => {
    const value = request[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [user, client, type] = [text('user'), text('client'), text('resourceType')];
  const names = Array.isArray(request['parameters']) ? request['parameters'].map(String) : [];
  const method = text('method')?.toUpperCase() ?? 'GET';
  const again = hashOf('access', [], {
    ...(user === undefined ? { client } : { user }),
    request: requestLike(request),
  });
  const refused = { method, type, operation: text('operation'), caller: user ?? client };
  return (
    <>
      <VerdictBox
        verdict={{
          tone: 'bad',
          title: 'Refused with 403',
          text:
            limited === true
              ? 'Policies grant this request for some resources only, and this route cannot keep to some.'
              : policies.length === 0
                ? (note ?? 'No policy covered this request.')
                : noneGrants(policies.length + (more ?? 0)),
        }}
      />
      <dl className={css.facts}>
        <Fact name="When">
          <Time value={at} /> (<Time value={at} as="ago" />)
        </Fact>
        <Fact name="Who">
          <Caller user={user} client={client} />
        </Fact>
        <Fact name="Request">
          <code>
            {method} {type ?? text('rpcMethod') ?? ''}
          </code>
          {names.length > 0 && ` with ${names.join(', ')}`}
        </Fact>
        <Fact name="Operation">
          <code>{text('operation') ?? 'none'}</code>
        </Fact>
        <Fact name="Decision">
          <code>{id}</code>
        </Fact>
      </dl>
      {policies.length > 0 && <h2>Policies that were tried, in order</h2>}
      <ol className={css.tried}>
        {policies.map(({ id: policyId, engine, failed }) => (
          <li key={policyId} className={`${css.triedPolicy} ${css.bad}`}>
            <div className={css.triedHead}>
              <span className={css.triedSign} aria-hidden="true">
                ✕
              </span>
              <a href={hashOf('access', ['policies', policyId])}>{policyId}</a>
              <span>did not grant</span>
              <span className={`fine ${css.triedWhy}`}>engine {engine}</span>
            </div>
            <PolicyClause policyId={policyId} {...failed} request={refused} />
          </li>
        ))}
      </ol>
      {more !== undefined && <p className="fine">{more} further policies are not listed.</p>}
      <p className="fine">
        A decision keeps paths, never values: the id that was asked for is not in it.{' '}
        <a href={again}>Describe this request again as {user ?? client}</a>
      </p>
    </>
  );
}
