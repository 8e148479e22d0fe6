import { type ReactElement, useMemo, useState } from 'react';
import { serverAddress } from '../../app/session';
import { Badge } from '../../parts/Badge';
import { Code } from '../../parts/Code';
import { Dialog } from '../../parts/Dialog';
import { Empty } from '../../parts/Empty';
import { Fact } from '../../parts/Fact';
import { Fault } from '../../parts/Fault';
import { Json } from '../../parts/Json';
import { type Column, Table } from '../../parts/Table';
import { Tabs } from '../../parts/Tabs';
import { Time } from '../../parts/Time';
import { columnsOf } from './columns';
import { milliseconds } from './milliseconds';
import { type AskedSearch, asClientCode, asCurl } from './print-call';
import { PlanView } from './PlanView';
import { type Found, type ResultPage } from './run-search';
import css from './search.module.css';

interface Props {
  readonly search: AskedSearch;
  /** The current content of the form, for the requests to copy. */
  readonly draft: AskedSearch;
  readonly pages: readonly ResultPage[];
  readonly onEnd: () => void;
  readonly fault?: unknown;
}

type TabId = 'matches' | 'plan' | 'sql' | 'calls';

/** The matches of a search, its plan, its SQL, and the same search as requests to copy. */
export function SearchResult({ search, draft, pages, onEnd, fault }: Props): ReactElement {
  const [tab, setTab] = useState<TabId>('matches');
  const [first] = pages;
  const found = useMemo(() => pages.flatMap((page) => page.found), [pages]);
  if (first === undefined) return <></>;
  const { total, explanation, planFault } = first;
  const matches = found.filter(({ isIncluded }) => !isIncluded).length;
  const tabs = [
    { id: 'matches', label: `Matches${total === undefined ? '' : ` (${total.toLocaleString('en')})`}` },
    ...(explanation !== undefined || planFault !== undefined ? [{ id: 'plan', label: 'Plan' }] : []),
    ...(explanation === undefined ? [] : [{ id: 'sql', label: 'SQL' }]),
    { id: 'calls', label: 'As a call' },
  ];
  const shown = tabs.some(({ id }) => id === tab) ? tab : 'matches';
  return (
    <section className={css.searchResult} aria-label="Result">
      <p role="status">
        <strong>{counted(matches, total)}</strong>
        {found.length > matches && ` and ${found.length - matches} included`}
        <span className="faint">
          {' '}
          of {search.type}, answered in {milliseconds(first.milliseconds)}
        </span>
      </p>
      {pages
        .flatMap(({ remarks }) => remarks)
        .map((remark, index) => (
          <p key={index} className="banner">
            {remark}
          </p>
        ))}
      <Tabs label="Parts of the result" tabs={tabs} selected={shown} onSelect={(id) => setTab(id as TabId)}>
        {shown === 'matches' && <Matches search={search} found={found} total={total} onEnd={onEnd} />}
        {shown === 'plan' && explanation !== undefined && <PlanView explanation={explanation} />}
        {shown === 'plan' && planFault !== undefined && <Fault error={planFault} what="the plan" />}
        {shown === 'sql' && explanation !== undefined && <Statement query={explanation.query} />}
        {shown === 'calls' && <Calls search={draft.type === '' ? search : draft} />}
      </Tabs>
      {fault !== undefined && <Fault error={fault} what="the next page" />}
    </section>
  );
}

function counted(matches: number, total: number | undefined): string {
  const most = Math.max(matches, total ?? 0);
  return `${most.toLocaleString('en')}${total === undefined && matches > 0 ? ' or more' : ''} ${most === 1 ? 'match' : 'matches'}`;
}

interface MatchesProps extends Pick<Props, 'search' | 'onEnd'> {
  readonly found: readonly Found[];
  readonly total: number | undefined;
}

function Matches({ search, found, total, onEnd }: MatchesProps): ReactElement {
  const [opened, setOpened] = useState<Found>();
  const columns = useMemo(() => tableColumns(found), [found]);
  if (found.length === 0)
    return total !== undefined && total > 0 ? (
      <Empty title={`${total.toLocaleString('en')} matches, none of them on this page`} />
    ) : (
      <Empty
        title={`No ${search.type} matches`}
        {...(search.parameters.length === 0 ? { command: 'npm run demo -- --keep' } : {})}
      >
        {search.parameters.length === 0
          ? 'None is stored that you may see. The demo stores a generated chart:'
          : 'Remove a parameter, or look at the plan: rows tell where the matches get lost.'}
      </Empty>
    );
  return (
    <>
      <Table
        label="Matches"
        rows={found}
        columns={columns}
        keyOf={keyOf}
        onOpen={setOpened}
        onEnd={onEnd}
        {...(total === undefined ? {} : { total })}
      />
      {opened !== undefined && (
        <Dialog title={keyOf(opened)} isWide onClose={() => setOpened(undefined)}>
          <Json value={opened.resource} label={keyOf(opened)} maxLines={26} />
        </Dialog>
      )}
    </>
  );
}

const keyOf = ({ resource }: Found): string => `${String(resource['resourceType'])}/${String(resource['id'])}`;

function tableColumns(found: readonly Found[]): readonly Column<Found>[] {
  const hasTypes = new Set(found.map(({ resource }) => resource['resourceType'])).size > 1;
  return [
    {
      key: 'id',
      label: hasTypes ? 'Resource' : 'Id',
      width: 'minmax(84px, 1.2fr)',
      render: (one) => (
        <>
          <code>{hasTypes ? keyOf(one) : String(one.resource['id'])}</code>
          {one.isIncluded && (
            <>
              {' '}
              <Badge>included</Badge>
            </>
          )}
        </>
      ),
    },
    ...columnsOf(found.map(({ resource }) => resource)).map(({ key, label, textOf }, index): Column<Found> => ({
      key,
      label,
      width: index === 0 ? 'minmax(96px, 1.6fr)' : 'minmax(80px, 1fr)',
      isWide: index > 1,
      render: ({ resource }) => textOf(resource),
    })),
    {
      key: 'updated',
      label: 'Updated',
      width: '92px',
      isWide: true,
      render: ({ resource }) => {
        const updated = (resource['meta'] as { readonly lastUpdated?: string } | undefined)?.lastUpdated;
        return updated === undefined ? '' : <Time value={updated} as="ago" />;
      },
    },
  ];
}

/**
 * The SQL statement with each clause on its own line. The statement holds parameters (`$1`) instead of values, so a
 * line break never gets into a value.
 */
const brokenSql = (text: string): string =>
  text.replace(/(?<!\s)\s+(?=(?:select|from|where|(?:left |cross |inner )?join|union|order by|limit)\b)/gi, '\n');

function Statement({ query }: { readonly query: readonly unknown[] }): ReactElement {
  const [text, ...values] = query;
  return (
    <div className="stack">
      <Code text={brokenSql(String(text))} name="SQL" />
      {values.length > 0 && (
        <dl className={css.sqlValues}>
          {values.map((value, index) => (
            <Fact key={index} name={<code>${index + 1}</code>}>
              <code>{JSON.stringify(value)}</code>
            </Fact>
          ))}
        </dl>
      )}
    </div>
  );
}

function Calls({ search }: { readonly search: AskedSearch }): ReactElement {
  const address = serverAddress();
  return (
    <div className="stack">
      <div>
        <h2>curl</h2>
        <p className="fine">
          The token is in <code>$TOKEN</code>: your own token is never shown here.
        </p>
        <Code text={asCurl(address, search)} label="Copy as curl" name="curl" />
      </div>
      <div>
        <h2>Typed client</h2>
        <p className="fine">
          TypeScript with <code>svc-health-client</code>
        </p>
        <Code text={asClientCode(address, search)} label="Copy code" name="Typed client" />
      </div>
    </div>
  );
}
