import { useQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { type RequestTrial, type ResourceType, type TriedPolicy } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { firstPage } from '../../parts/search-pages';
import { Criteria } from './Criteria';
import { PolicyClause } from './PolicyClause';
import { resourceIn } from './typed-request';
import { type Verdict, verdictOf } from './verdict';
import css from './access.module.css';

/** The decision of the policies on a described request: the verdict, then each policy in the order of evaluation. */
export function TrialResult({ trial }: { readonly trial: RequestTrial }): ReactElement {
  const { request, operation, decision, policies, more, note } = trial;
  const user = typeof request['user-id'] === 'string' ? request['user-id'] : undefined;
  const type = (request['params'] as { readonly 'resource/type'?: string } | undefined)?.['resource/type'];
  const uri = `${String(request['uri'] ?? '')}${request['query-string'] === '' ? '' : `?${String(request['query-string'])}`}`;
  return (
    <>
      <VerdictBox verdict={verdictOf(trial)} />
      <dl className={css.facts}>
        <div>
          <dt>Who</dt>
          <dd>
            <Caller request={request} />
          </dd>
        </div>
        <div>
          <dt>Request</dt>
          <dd>
            <code>
              {String(request['request-method']).toUpperCase()} {uri}
            </code>
          </dd>
        </div>
        <div>
          <dt>Operation</dt>
          <dd>{operation === null ? 'none that policies name' : <code>{operation.id}</code>}</dd>
        </div>
        <StoredFact uri={uri} />
      </dl>
      {/* The verdict says it in more words. */}
      {note !== undefined && decision['finds-resource'] !== false && <p className={css.noteLine}>{note}</p>}
      <h2>
        {policies.length === 0
          ? 'No policy covers this request'
          : `${policies.length + (more ?? 0)} ${policies.length === 1 && more === undefined ? 'policy covers' : 'policies cover'} it, in the order of evaluation`}
      </h2>
      <ol className={css.tried}>
        {policies.map((policy) => (
          <Tried key={policy.id} policy={policy} isDecisive={policy.id === decision.by} user={user} type={type} />
        ))}
      </ol>
      {more !== undefined && <p className="fine">{more} further policies are not listed.</p>}
    </>
  );
}

export function VerdictBox({ verdict: { tone, title, text } }: { readonly verdict: Verdict }): ReactElement {
  return (
    <div className={`${css.verdict} ${css[tone]}`}>
      <span className={css.verdictSign} aria-hidden="true">
        {{ good: '✓', warn: '!', bad: '✕' }[tone]}
      </span>
      <div>
        <p className={css.verdictTitle}>{title}</p>
        <p>{text}</p>
      </div>
    </div>
  );
}

function Caller({ request }: { readonly request: RequestTrial['request'] }): ReactElement {
  const [user, client] = [request['user-id'], request['client-id']];
  return (
    <>
      {typeof user === 'string' && <a href={hashOf('access', ['users', user])}>User {user}</a>}
      {typeof client === 'string' && (
        <>
          {typeof user === 'string' && ' by '}
          <a href={hashOf('access', ['clients', client])}>Client {client}</a>
        </>
      )}
    </>
  );
}

/** Whether the named resource is there, as far as the reader of the page may know. */
function StoredFact({ uri }: { readonly uri: string }): ReactElement | null {
  const { client, userId } = useSession();
  const named = resourceIn(uri);
  const { data } = useQuery({
    queryKey: ['is-stored', userId, named?.type, named?.id],
    enabled: named !== undefined,
    retry: false,
    queryFn: async ({ signal }) => {
      const query = { _id: named?.id, _elements: 'id', _count: 1, _total: 'none' };
      return (await firstPage(client, named?.type as ResourceType, query, signal)).resources.length > 0;
    },
  });
  if (named === undefined || data === undefined) return null;
  return (
    <div>
      <dt>Stored</dt>
      <dd>
        {data
          ? `Yes, ${named.type}/${named.id} is stored.`
          : `You find no ${named.type}/${named.id}: it is not stored, or hidden from you too.`}
      </dd>
    </div>
  );
}

interface TriedProps {
  readonly policy: TriedPolicy;
  readonly isDecisive: boolean;
  readonly user: string | undefined;
  /** The type that is asked for: criteria of other types are only counted. */
  readonly type: string | undefined;
}

function Tried({ policy, isDecisive, user, type }: TriedProps): ReactElement {
  const { id, engine, result } = policy;
  const isGrant = result['eval-result'];
  const finds = result['finds-resource'];
  const state = !isGrant ? 'bad' : result.criteria !== undefined && finds !== true ? 'warn' : 'good';
  const said = {
    bad: 'does not grant',
    warn: finds === false ? 'grants, but not this resource' : 'grants some resources',
    good: isDecisive ? 'grants, and decides' : 'grants',
  }[state];
  return (
    <li className={`${css.triedPolicy} ${css[state]}`}>
      <div className={css.triedHead}>
        <span className={css.triedSign} aria-hidden="true">
          {{ good: '✓', warn: '!', bad: '✕' }[state]}
        </span>
        <a href={hashOf('access', ['policies', id])}>{id}</a>
        <span>{said}</span>
        <span className={`fine ${css.triedWhy}`}>
          {reasonToTry(policy)} · engine {engine}
        </span>
      </div>
      {result.failed !== undefined && <PolicyClause policyId={id} {...result.failed} />}
      {result.criteria !== undefined && <Criteria criteria={result.criteria} user={user} type={type} />}
    </li>
  );
}

function reasonToTry({ link = [], roleName }: TriedPolicy): string {
  const places = link.map(({ resourceType, id }) => `${resourceType} ${id}`).join(', ');
  if (roleName !== undefined) return `for the Role ${roleName}${places === '' ? '' : ` and ${places}`}`;
  return places === '' ? 'for everyone' : `linked to ${places}`;
}
