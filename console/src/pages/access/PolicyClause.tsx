import { type ReactElement } from 'react';
import { clauseAt } from './policy-reading';
import { usePolicy } from './use-policies';
import css from './access.module.css';

interface Props {
  readonly policyId: string;
  readonly path: string;
  readonly reason: string;
}

const LONGEST = 240;

/** The first clause of a policy that failed: where it stands, what it wants, and the text there. */
export function PolicyClause({ policyId, path, reason }: Props): ReactElement {
  const { data: policy } = usePolicy(policyId);
  const found = policy === undefined ? undefined : clauseAt(policy, path);
  const text = found === undefined ? '' : JSON.stringify(found);
  return (
    <div className={css.clause}>
      <p>
        <span className={css.clauseLabel}>fails at</span> <code>{path}</code>
      </p>
      <p>{reason}</p>
      {text !== '' && (
        <p>
          <span className={css.clauseLabel}>the policy says</span>{' '}
          <code>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</code>
        </p>
      )}
    </div>
  );
}
