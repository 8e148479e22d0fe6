import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type SvcClient } from 'svc-health-client';
import { useSession } from '../../app/session';
import { changesBetween } from '../../parts/body/body';
import { FieldTable } from '../../parts/body/FieldTable';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { Field } from '../../parts/Field';
import { stampOf } from '../../parts/times';
import { Waiting } from '../../parts/Waiting';
import { type Version, type VersionPage, versionPage } from './version-page';
import css from './patients.module.css';

interface Props {
  readonly type: string;
  readonly id: string;
}

/** The versions of a resource, and the difference between any two. */
export function Versions({ type, id }: Props): ReactElement {
  const { client, userId } = useSession();
  const path = `/fhir/${encodeURIComponent(type)}/${encodeURIComponent(id)}/_history`;
  const history = useInfiniteQuery({
    queryKey: ['history', userId, type, id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }): Promise<VersionPage> => versionPage(client, pageParam ?? path, signal),
    getNextPageParam: ({ next }) => next,
  });
  const [chosen, setChosen] = useState<{ readonly from?: string; readonly to?: string }>({});
  if (history.isPending) return <Waiting what="the versions" />;
  if (history.isError) return <Fault error={history.error} what="the history" onRetry={() => void history.refetch()} />;
  const versions = history.data.pages.flatMap((page) => page.versions);
  const [latest, previous] = versions.filter(({ isDeletion }) => !isDeletion);
  const to = chosen.to ?? latest?.version;
  const from = chosen.from ?? previous?.version;
  return (
    <div className="stack">
      <p className="fine">
        {versions.length === 1 ? '1 version' : `${versions.length} versions, the latest first`}
        {history.hasNextPage && ' so far'}
      </p>
      {versions.length > 1 && (
        <div className={css.fieldRow}>
          <VersionField
            label="From"
            versions={versions}
            value={from}
            onChoose={(version) => setChosen({ ...chosen, from: version })}
          />
          <VersionField
            label="To"
            versions={versions}
            value={to}
            onChoose={(version) => setChosen({ ...chosen, to: version })}
          />
        </div>
      )}
      {history.hasNextPage && (
        <button
          type="button"
          className="button small"
          disabled={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          Load earlier versions
        </button>
      )}
      {from === undefined || to === undefined ? (
        <Empty title="There is one version">An update makes the next one; then this view shows what it changed.</Empty>
      ) : (
        <Difference type={type} id={id} from={from} to={to} />
      )}
    </div>
  );
}

interface VersionFieldProps {
  readonly label: string;
  readonly versions: readonly Version[];
  readonly value: string | undefined;
  readonly onChoose: (version: string) => void;
}

const VersionField = ({ label, versions, value, onChoose }: VersionFieldProps): ReactElement => (
  <Field label={label}>
    {(field) => (
      <select {...field} value={value} onChange={({ target }) => onChoose(target.value)}>
        {versions.map(({ version, at, method, isDeletion }) => (
          <option key={version} value={version} disabled={isDeletion}>
            {`${version} · ${at === undefined ? '' : stampOf(new Date(at))} · ${isDeletion ? 'deleted' : method}`}
          </option>
        ))}
      </select>
    )}
  </Field>
);

function Difference({ type, id, from, to }: Props & { readonly from: string; readonly to: string }): ReactElement {
  const { client, userId } = useSession();
  const difference = useQuery({
    queryKey: ['difference', userId, type, id, from, to],
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all(
        [from, to].map((version) => versionText(client, type, id, version, signal)),
      );
      return changesBetween(before ?? '{}', after ?? '{}', signal);
    },
    staleTime: Infinity, // versions never change
    structuralSharing: false,
  });
  if (difference.isPending) return <Waiting what="both versions" />;
  if (difference.isError)
    return <Fault error={difference.error} what="the difference" onRetry={() => void difference.refetch()} />;
  const rows = difference.data;
  return (
    <section aria-label="Difference">
      <p className="fine" role="status">
        {rows.length === 0
          ? `Versions ${from} and ${to} have the same content.`
          : `${rows.length} ${rows.length === 1 ? 'field differs' : 'fields differ'} from version ${from} to ${to}`}
      </p>
      {rows.length > 0 && <FieldTable label={`Changes from version ${from} to ${to}`} rows={rows} />}
    </section>
  );
}

async function versionText(
  client: SvcClient,
  type: string,
  id: string,
  version: string,
  signal: AbortSignal,
): Promise<string> {
  const path = `/fhir/${encodeURIComponent(type)}/${encodeURIComponent(id)}/_history/${encodeURIComponent(version)}`;
  return (await client.request('GET', path, { signal })).text();
}
