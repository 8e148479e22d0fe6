import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { hashOf, goTo } from '../../app/routes';
import { useSession } from '../../app/session';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { Field } from '../../parts/Field';
import { PageHeader } from '../../parts/PageHeader';
import { isEmptyQuery, type PatientQuery, readSearchText, searchParametersOf } from '../../parts/patient-query';
import { type Column, Table } from '../../parts/Table';
import { useKept } from '../../parts/use-kept';
import { useSettled } from '../../parts/use-settled';
import { Waiting } from '../../parts/Waiting';
import { firstPage, nextPage, type Page } from '../../parts/search-pages';
import { type PatientLine, patientLineOf } from './patient-line';
import css from './patients.module.css';

const COLUMNS: readonly Column<PatientLine>[] = [
  { key: 'name', label: 'Name', width: 'minmax(130px, 2fr)', render: ({ name }) => <strong>{name}</strong> },
  { key: 'birth', label: 'Birth date', width: '100px', render: ({ birthDate }) => birthDate },
  { key: 'gender', label: 'Gender', width: '80px', isWide: true, render: ({ gender }) => gender },
  {
    key: 'identifier',
    label: 'Identifiers',
    width: 'minmax(140px, 2fr)',
    isWide: true,
    render: ({ identifiers }) => <span title={identifiers.join(', ')}>{identifiers.join(', ')}</span>,
  },
  { key: 'id', label: 'Id', width: 'minmax(90px, 1fr)', isWide: true, render: ({ id }) => <code>{id}</code> },
];

interface Fields {
  readonly text: string;
  readonly name: string;
  readonly identifier: string;
  readonly birthdate: string;
}

const NOTHING: Fields = { text: '', name: '', identifier: '', birthdate: '' };

function queryOf({ text, name, identifier, birthdate }: Fields): PatientQuery {
  const read = readSearchText(text);
  const words = (value: string): string[] => value.split(/[\s,]+/).filter((word) => word !== '');
  return {
    ...read,
    name: [...read.name, ...words(name)],
    identifier: [...read.identifier, ...words(identifier)],
    birthdate: [...read.birthdate, ...words(birthdate)],
  };
}

export function PatientSearch(): ReactElement {
  // The fields are never part of the address, since a name belongs to a patient.
  const [fields, setFields] = useKept('patients', NOTHING);
  const change = (changed: Partial<Fields>): void => {
    setFields({ ...fields, ...changed });
  };
  const query = JSON.parse(useSettled(JSON.stringify(queryOf(fields)))) as PatientQuery;
  return (
    <div className={css.patients}>
      <PageHeader title="Patients" />
      <form role="search" className={css.search} onSubmit={(event) => event.preventDefault()}>
        <Field
          label="Search"
          hint="Names, a birth date or year, an identifier with | or digits: rivera 1980-02-03, MRN|123, Patient/p7"
        >
          {(field) => (
            <input
              {...field}
              type="search"
              data-search
              autoComplete="off"
              spellCheck={false}
              value={fields.text}
              onChange={({ target }) => change({ text: target.value })}
            />
          )}
        </Field>
        <details className={css.moreFields}>
          <summary>Separate fields</summary>
          <div className={css.fieldRow}>
            <Field label="Name">
              {(field) => (
                <input
                  {...field}
                  autoComplete="off"
                  value={fields.name}
                  onChange={({ target }) => change({ name: target.value })}
                />
              )}
            </Field>
            <Field label="Identifier" hint="value or system|value">
              {(field) => (
                <input
                  {...field}
                  autoComplete="off"
                  value={fields.identifier}
                  onChange={({ target }) => change({ identifier: target.value })}
                />
              )}
            </Field>
            <Field label="Birth date" hint="1980, 1980-02 or 1980-02-03">
              {(field) => (
                <input
                  {...field}
                  autoComplete="off"
                  value={fields.birthdate}
                  onChange={({ target }) => change({ birthdate: target.value })}
                />
              )}
            </Field>
          </div>
        </details>
      </form>
      <Understood query={query} />
      <Results query={query} />
    </div>
  );
}

/** Shows how the line was parsed, so that a wrong guess is visible. */
function Understood({ query }: { readonly query: PatientQuery }): ReactElement {
  const parts = [
    ...query.name.map((word) => `name “${word}”`),
    ...query.identifier.map((word) => `identifier “${word}”`),
    ...query.birthdate.map((word) => `born ${word}`),
    ...query.id.map((word) => `id “${word}”`),
  ];
  return (
    <p className={`fine ${css.understood}`}>
      {parts.length === 0 ? 'The latest patients' : `Patients with ${parts.join(' and ')}`}
    </p>
  );
}

function Results({ query }: { readonly query: PatientQuery }): ReactElement {
  const { client, userId } = useSession();
  const search = useInfiniteQuery({
    queryKey: ['patients', userId, query],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      if (pageParam !== undefined) return nextPage(client, pageParam, signal);
      const shown = { _elements: 'name,birthDate,gender,identifier', _count: 50, _sort: '-_lastUpdated' };
      const found = await firstPage(client, 'Patient', { ...shown, ...searchParametersOf(query) }, signal);
      // A word with digits may also be the patient's id.
      const [only] = query.identifier;
      const isAlone =
        query.identifier.length === 1 && query.name.length + query.birthdate.length + query.id.length === 0;
      if (found.resources.length > 0 || !isAlone || only === undefined || !/^[A-Za-z0-9.-]{1,64}$/.test(only))
        return found;
      return firstPage(client, 'Patient', { ...shown, _id: only }, signal);
    },
    getNextPageParam: ({ next }) => next,
  });
  if (search.isPending) return <Waiting what="the patients" />;
  if (search.isError) return <Fault error={search.error} what="patients" onRetry={() => void search.refetch()} />;
  const rows = search.data.pages.flatMap(({ resources }) => resources.map(patientLineOf));
  const total = search.data.pages[0]?.total;
  if (rows.length === 0)
    return isEmptyQuery(query) ? (
      <Empty title="No patient is stored yet" command="npm run demo -- --keep">
        The demo stores a generated chart. Or send your own: PUT /fhir/Patient/&#123;id&#125;
      </Empty>
    ) : (
      <Empty title="No patient matches">
        Names match from their beginning. Try fewer words, or a year for the birth date.
      </Empty>
    );
  return (
    <>
      <p className="hidden" role="status">
        {total ?? rows.length} patients found
      </p>
      <Table
        label="Patients"
        rows={rows}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        onOpen={({ id }) => goTo(hashOf('patients', [id]))}
        {...(total === undefined ? {} : { total })}
        onEnd={() => {
          if (search.hasNextPage && !search.isFetchingNextPage) void search.fetchNextPage();
        }}
      />
      <p className="fine">
        {total === undefined || total === rows.length
          ? rows.length === 1
            ? '1 patient'
            : `${rows.length} patients`
          : `${rows.length} of ${total} patients; scroll for more`}
      </p>
    </>
  );
}
