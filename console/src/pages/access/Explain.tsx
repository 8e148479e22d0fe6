import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Panel } from '../../parts/Panel';
import { useKept } from '../../parts/use-kept';
import { DecisionBox } from './DecisionBox';
import { DecisionView } from './DecisionView';
import { describedBy, type Draft, EMPTY_DRAFT, withMethodOf } from './draft';
import { Refusals } from './Refusals';
import { RequestForm } from './RequestForm';
import { TrialResult } from './TrialResult';
import { userIdOf } from './user-id';
import css from './access.module.css';

interface Props {
  readonly user: string | undefined;
  readonly client: string | undefined;
  /** The initial request: `GET /fhir/Patient`. */
  readonly asked: string | undefined;
  readonly decisionId: string | undefined;
}

/** Shows the reason of a refusal in one of two ways: by its decision, or by a description of the same request. */
export function Explain({ user, client, asked, decisionId }: Props): ReactElement {
  const [draft, setDraft] = useKept<Draft>('access-draft', EMPTY_DRAFT);
  const [submitted, setSubmitted] = useKept<Draft | undefined>('access-submitted', undefined);
  const [begun, setBegun] = useState(0);
  useEffect(() => {
    if (user === undefined && client === undefined && asked === undefined) return;
    const who = user === undefined && client !== undefined ? { who: 'client' as const, client } : { user: user ?? '' };
    setSubmitted(undefined);
    setDraft(withMethodOf({ ...EMPTY_DRAFT, ...who }, asked ?? ''));
    setBegun((count) => count + 1);
    // The reader may change the form from here on. So the address must not name the initial request any more.
    goTo(hashOf('access'), true);
  }, [user, client, asked, setDraft, setSubmitted]);

  const result = useRef<HTMLElement>(null);
  const submit = (next: Draft): void => {
    setSubmitted(next);
    if (decisionId !== undefined) goTo(hashOf('access'));
    // On a narrow screen the result is below the form, out of sight.
    if (matchMedia('(max-width: 899px)').matches) requestAnimationFrame(() => result.current?.scrollIntoView());
  };

  return (
    <div className={css.explain}>
      <Panel title="From a refusal">
        <DecisionBox
          id={decisionId}
          onNothing={(request) => {
            setSubmitted(undefined);
            goTo(hashOf('access', [], request === undefined ? {} : { request, user: draft.user }));
          }}
        />
      </Panel>
      <Panel title="Describe a request">
        <RequestForm draft={draft} begun={begun} onChange={setDraft} onSubmit={submit} />
      </Panel>
      <section className={css.explainResult} aria-label="Result" aria-live="polite" ref={result}>
        {decisionId !== undefined ? (
          <DecisionView id={decisionId} />
        ) : submitted !== undefined ? (
          <Result draft={submitted} />
        ) : (
          <>
            <p className={css.explainIdle}>
              Choose who asks and what for. Nothing is sent: the server says which policies it would try, and where each
              of them fails.
            </p>
            <Refusals />
          </>
        )}
      </section>
    </div>
  );
}

function Result({ draft }: { readonly draft: Draft }): ReactElement {
  const { client, userId } = useSession();
  const trial = useQuery({
    queryKey: ['request-trial', userId, draft],
    queryFn: async () => {
      const user = draft.who === 'user' ? await userIdOf(client, draft.user.trim()) : '';
      return client.access.testRequest(describedBy(draft, user));
    },
    // A policy may have changed since the last run, so the result of that run counts as stale.
    staleTime: 0,
  });
  return (
    <Answer of={trial} what="what the policies say">
      {(data) => <TrialResult trial={data} />}
    </Answer>
  );
}
