import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Panel } from '../../parts/Panel';
import { CoveredBadges } from './CoveredBadges';
import { coveredBy, type PolicyBody, summaryOf } from './policy-reading';
import { MOST_POLICIES, useAllPolicies } from './use-policies';
import css from './access.module.css';

interface Props {
  readonly covers: (policy: PolicyBody) => boolean;
  readonly title?: string;
  readonly note?: string;
}

const SHOWN = 200;

/** The stored policies that may cover a caller's requests. */
export function PoliciesThatCover({ covers, title = 'Policies that may apply', note }: Props): ReactElement {
  const all = useAllPolicies();
  const found = all.data?.policies.filter(covers) ?? [];
  return (
    <Panel title={title}>
      <Answer of={all} what="the policies">
        {({ isMore }) => (
          <>
            {note !== undefined && <p className="fine">{note}</p>}
            {found.length === 0 ? (
              <p className="faint">None: every request is refused.</p>
            ) : (
              <ul className={`${css.plain} ${css.policies}`}>
                {found.slice(0, SHOWN).map((policy) => (
                  <li key={policy.id}>
                    <a href={hashOf('access', ['policies', policy.id ?? ''])}>{policy.id}</a>
                    <CoveredBadges covered={coveredBy(policy)} />
                    <span className="faint">{summaryOf(policy)}</span>
                  </li>
                ))}
              </ul>
            )}
            {(found.length > SHOWN || isMore) && (
              <p className="fine">
                The first {SHOWN} of those among {MOST_POLICIES} policies; “Why?” tries them all.
              </p>
            )}
          </>
        )}
      </Answer>
    </Panel>
  );
}
