import { type ReactElement } from 'react';
import { useResource } from '../../parts/use-resource';
import { clauseSentence, type RefusedRequest } from './clause-sentence';
import { clauseAt } from './policy-reading';
import css from './access.module.css';

interface Props {
  readonly policyId: string;
  readonly path: string;
  readonly reason: string;
  readonly request: RefusedRequest;
}

const LONGEST = 240;

/**
 * Shows the first clause of a policy that the request did not meet: its path, and its value in the policy. A sentence
 * explains the clause if possible; else the server's reason is shown.
 */
export function PolicyClause({ policyId, path, reason, request }: Props): ReactElement {
  const { data: policy } = useResource('AccessPolicy', policyId);
  const found = policy === undefined ? undefined : clauseAt(policy, path);
  const text = found === undefined ? '' : JSON.stringify(found);
  const sentence = clauseSentence(policyId, path, found, request);
  return (
    <div className={css.clause}>
      {sentence !== undefined && <p>{sentence}</p>}
      <p>
        <span className={css.clauseLabel}>fails at</span> <code>{path}</code>
      </p>
      {sentence === undefined && <p>{reason}</p>}
      {text !== '' && (
        <p>
          <span className={css.clauseLabel}>the policy says</span>{' '}
          <code>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</code>
        </p>
      )}
    </div>
  );
}
