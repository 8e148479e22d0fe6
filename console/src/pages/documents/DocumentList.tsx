import { type ReactElement } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Empty } from '../../parts/Empty';
import { SelectField, TextField } from '../../parts/Field';
import { type NameOf, useNames } from '../../parts/names';
import { PageHeader } from '../../parts/PageHeader';
import { patientParametersOf, readSearchText } from '../../parts/patient-query';
import { type Row } from '../../parts/search-pages';
import { type Column, Table } from '../../parts/Table';
import { Time } from '../../parts/Time';
import { useKept } from '../../parts/use-kept';
import { useList } from '../../parts/use-list';
import { useSettled } from '../../parts/use-settled';
import { type Named, wordsOf } from './record';
import { Status } from './Status';
import css from './documents.module.css';

const KINDS = { SDCDocument: 'Documents', SDCWorkflow: 'Workflows' } as const;

interface Filter {
  readonly kind: keyof typeof KINDS;
  readonly patient: string;
  readonly status: string;
  readonly type: string;
}

const NOTHING: Filter = { kind: 'SDCDocument', patient: '', status: '', type: '' };
const STATUSES = ['draft', 'in-progress', 'completed', 'in-amendment', 'amended', 'canceled'];

export function DocumentList(): ReactElement {
  // The filter is never in the address, since it may name a patient.
  const [filter, setFilter] = useKept('documents', NOTHING);
  const settled = useSettled(filter);
  const change = (changed: Partial<Filter>): void => {
    setFilter({ ...filter, ...changed });
  };
  return (
    <div className={css.documents}>
      <PageHeader title="Signed documents">
        Open one to see what it said at each signature, and what was added to it.
      </PageHeader>
      <form role="search" className={css.search} onSubmit={(event) => event.preventDefault()}>
        <TextField
          label="Patient"
          hint="Name, birth date, id or MRN|123"
          type="search"
          data-search
          autoComplete="off"
          spellCheck={false}
          value={filter.patient}
          onChange={(patient) => change({ patient })}
        />
        <SelectField
          label="Status"
          value={filter.status}
          options={[['', 'All'], ...STATUSES]}
          onChange={(status) => change({ status })}
        />
        <TextField
          label="Type"
          hint="The whole name, such as clinic.forms/VitalsDocument"
          autoComplete="off"
          spellCheck={false}
          value={filter.type}
          onChange={(type) => change({ type })}
        />
        <SelectField
          label="Kind"
          value={filter.kind}
          options={Object.entries(KINDS)}
          onChange={(kind) => change({ kind: kind as Filter['kind'] })}
        />
      </form>
      <Results filter={settled} onReset={() => change(NOTHING)} />
    </div>
  );
}

interface Line {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly patient: Named | undefined;
  readonly author: Named | undefined;
  readonly updated: string;
}

function Results({ filter, onReset }: { readonly filter: Filter; readonly onReset: () => void }): ReactElement {
  const { kind, patient, status, type } = filter;
  const list = useList(kind, {
    ...patientParametersOf(readSearchText(patient)),
    ...(status === '' ? {} : { status }),
    ...(type.trim() === '' ? {} : { type: type.trim() }),
    ...{ _elements: 'type,title,status,patient,ctx,author', _count: 50, _sort: '-_lastUpdated' },
  });
  const { total } = list;
  const lines = list.data?.map(lineOf);
  const nameOf = useNames(lines?.flatMap(({ patient, author }) => [patient, author]) ?? []);
  const isFiltered = patient !== '' || status !== '' || type !== '';
  return (
    <Answer of={{ ...list, data: lines }} what="the documents">
      {(rows) =>
        rows.length > 0 ? (
          <>
            <p className="hidden" role="status">
              {total ?? rows.length} found
            </p>
            <Table
              label={KINDS[kind]}
              rows={rows}
              columns={columnsOf(nameOf)}
              keyOf={({ id }) => id}
              rowHeight={44}
              onOpen={({ id }) => goTo(hashOf('documents', [kind, id]))}
              total={total}
              onEnd={list.loadMore}
            />
            <p className="fine">
              {total === undefined || total === rows.length
                ? `${rows.length} found`
                : `${rows.length} of ${total}; scroll for more`}
            </p>
          </>
        ) : isFiltered ? (
          <Empty title="Nothing matches">
            <button type="button" className="button" onClick={onReset}>
              Show all
            </button>
          </Empty>
        ) : (
          <Empty title="Nothing is stored yet" command="npm run demo -- --keep">
            The demo signs a document and amends it. Your application signs by the method svc.sdc/sign.
          </Empty>
        )
      }
    </Answer>
  );
}

const columnsOf = (nameOf: NameOf): readonly Column<Line>[] => [
  {
    key: 'document',
    label: 'Document',
    width: 'minmax(160px, 2fr)',
    render: ({ id, title, patient }) => (
      <span className={css.twoLines}>
        <strong>{title === '' ? id : title}</strong>
        <span>
          {patient !== undefined && <span className={css.onlyNarrow}>{nameOf(patient)} </span>}
          {title !== '' && <code>{id}</code>}
        </span>
      </span>
    ),
  },
  { key: 'status', label: 'Status', width: '108px', render: ({ status }) => <Status status={status} /> },
  {
    key: 'patient',
    label: 'Patient',
    isWide: true,
    width: 'minmax(100px, 1.3fr)',
    render: ({ patient }) => (patient === undefined ? '' : nameOf(patient)),
  },
  {
    key: 'author',
    label: 'Author',
    isWide: true,
    width: 'minmax(100px, 1.3fr)',
    render: ({ author }) => (author === undefined ? '' : nameOf(author)),
  },
  {
    key: 'updated',
    label: 'Last change',
    isWide: true,
    width: '120px',
    render: ({ updated }) => (updated === '' ? '' : <Time value={updated} as="ago" />),
  },
];

function lineOf(resource: Row): Line {
  const { id, type, title, status, patient, ctx, author, meta } = resource;
  const inContext = (ctx as { patient?: unknown } | undefined)?.patient;
  return {
    id: textOf(id),
    title: textOf(title) || wordsOf(textOf(type)),
    status: textOf(status),
    patient: namedOf(patient) ?? namedOf(inContext),
    author: namedOf(author),
    updated: textOf((meta as { lastUpdated?: unknown } | undefined)?.lastUpdated),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function namedOf(value: unknown): Named | undefined {
  const { resourceType, id, display } = (value ?? {}) as Record<string, unknown>;
  if (typeof resourceType !== 'string' || typeof id !== 'string') return undefined;
  return { resourceType, id, ...(typeof display === 'string' ? { display } : {}) };
}
