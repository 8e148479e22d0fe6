import { type ReactElement } from 'react';
import { type RequestTrial, type TriedPolicy } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { Fact } from '../../parts/Fact';
import { type RefusedRequest } from './clause-sentence';
import { Criteria } from './Criteria';
import { PolicyClause } from './PolicyClause';
import { resourceIn } from './typed-request';
import { callerOf, type Verdict, verdictOf } from './verdict';
import css from './access.module.css';

/** The decision of the policies on a described request: the verdict, then each policy in the order of evaluation. */
export function TrialResult({ trial }: { readonly trial: RequestTrial }): ReactElement {
  const { request, operation, decision, policies, more, note } = trial;
  const verdict = verdictOf(trial);
  const user = textOf(request['user-id']);
  const type = (request['params'] as { readonly 'resource/type'?: string } | undefined)?.['resource/type'];
  const refused = {
    method: String(request['request-method']),
    type,
    operation: operation?.id,
    caller: callerOf(request),
  };
  const uri = `${String(request['uri'] ?? '')}${request['query-string'] === '' ? '' : `?${String(request['query-string'])}`}`;
  return (
    <>
      <VerdictBox verdict={verdict} />
      <dl className={css.facts}>
        <Fact name="Who">
          <Caller user={user} client={textOf(request['client-id'])} />
        </Fact>
        <Fact name="Request">
          <code>
            {String(request['request-method']).toUpperCase()} {uri}
          </code>
        </Fact>
        <Fact name="Operation">{operation === null ? 'none that policies name' : <code>{operation.id}</code>}</Fact>
        <StoredFact uri={uri} isStored={decision['is-stored']} />
      </dl>
      {note !== undefined && note !== verdict.text && decision['is-stored'] !== false && (
        <p className={css.noteLine}>{note}</p>
      )}
      {policies.length > 0 && (
        <h2>
          {`${policies.length + (more ?? 0)} ${policies.length === 1 && more === undefined ? 'policy covers' : 'policies cover'} it, in the order of evaluation`}
        </h2>
      )}
      <ol className={css.tried}>
        {policies.map((policy) => (
          <Tried
            key={policy.id}
            policy={policy}
            isDecisive={policy.id === decision.by}
            user={user}
            type={type}
            request={refused}
          />
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

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

interface CallerProps {
  readonly user: string | undefined;
  readonly client: string | undefined;
}

export const Caller = ({ user, client = '' }: CallerProps): ReactElement => (
  <>
    {user !== undefined && <a href={hashOf('access', ['users', user])}>User {user}</a>}
    {user !== undefined && client !== '' && ' by '}
    {client !== '' && <a href={hashOf('access', ['clients', client])}>Client {client}</a>}
  </>
);

/** Whether the named resource is stored, as far as the reader of the page may know. */
function StoredFact({
  uri,
  isStored,
}: {
  readonly uri: string;
  readonly isStored: boolean | undefined;
}): ReactElement | null {
  const named = resourceIn(uri);
  if (named === undefined) return null;
  const name = `${named.type}/${named.id}`;
  return (
    <Fact name="Stored">
      {isStored === undefined && `You may not read ${name}, so this page cannot say.`}
      {isStored === false && `No, there is no ${name}.`}
      {isStored === true && (
        <>Yes: {named.type === 'Patient' ? <a href={hashOf('patients', [named.id])}>{name}</a> : <code>{name}</code>}</>
      )}
    </Fact>
  );
}

interface TriedProps {
  readonly policy: TriedPolicy;
  readonly isDecisive: boolean;
  readonly user: string | undefined;
  /** The requested type; criteria of other types are only counted. */
  readonly type: string | undefined;
  readonly request: RefusedRequest;
}

function Tried({ policy, isDecisive, user, type, request }: TriedProps): ReactElement {
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
      {result.failed !== undefined && <PolicyClause policyId={id} {...result.failed} request={request} />}
      {result.reason !== undefined && <p className={css.clause}>{`Not this one: ${result.reason}.`}</p>}
      {result.criteria !== undefined && <Criteria criteria={result.criteria} user={user} type={type} />}
    </li>
  );
}

function reasonToTry({ link = [], roleName }: TriedPolicy): string {
  const places = link.map(({ resourceType, id }) => `${resourceType} ${id}`).join(', ');
  if (roleName !== undefined) return `for the Role ${roleName}${places === '' ? '' : ` and ${places}`}`;
  return places === '' ? 'for everyone' : `linked to ${places}`;
}
