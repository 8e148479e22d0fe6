import { type ReactElement } from 'react';
import { hashOf, goTo } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Empty } from '../../parts/Empty';
import { TextField } from '../../parts/Field';
import { PageHeader } from '../../parts/PageHeader';
import { isEmptyQuery, type PatientQuery, readSearchText, searchParametersOf } from '../../parts/patient-query';
import { type Column, Table } from '../../parts/Table';
import { useKept } from '../../parts/use-kept';
import { useList } from '../../parts/use-list';
import { useSettled } from '../../parts/use-settled';
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
  const query = queryOf(useSettled(fields));
  return (
    <div className={css.patients}>
      <PageHeader title="Patients" />
      <form role="search" className={css.search} onSubmit={(event) => event.preventDefault()}>
        <TextField
          label="Search"
          hint="Names, a birth date or year, an identifier with | or digits: rivera 1980-02-03, MRN|123, Patient/p7"
          type="search"
          data-search
          autoComplete="off"
          spellCheck={false}
          value={fields.text}
          onChange={(text) => change({ text })}
        />
        <details className={css.moreFields}>
          <summary>Separate fields</summary>
          <div className={css.fieldRow}>
            <TextField label="Name" autoComplete="off" value={fields.name} onChange={(name) => change({ name })} />
            <TextField
              label="Identifier"
              hint="value or system|value"
              autoComplete="off"
              value={fields.identifier}
              onChange={(identifier) => change({ identifier })}
            />
            <TextField
              label="Birth date"
              hint="1980, 1980-02 or 1980-02-03"
              autoComplete="off"
              value={fields.birthdate}
              onChange={(birthdate) => change({ birthdate })}
            />
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
  const shown = { _elements: 'name,birthDate,gender,identifier', _count: 50, _sort: '-_lastUpdated' };
  // A word with digits may also be the patient's id.
  const [only = ''] = query.identifier;
  const isAlone = query.identifier.length === 1 && query.name.length + query.birthdate.length + query.id.length === 0;
  const mayBeId = isAlone && /^[A-Za-z0-9.-]{1,64}$/.test(only);
  const list = useList(
    'Patient',
    { ...shown, ...searchParametersOf(query) },
    mayBeId ? { ...shown, _id: only } : undefined,
  );
  const { total } = list;
  return (
    <Answer of={list} what="the patients">
      {(rows) =>
        rows.length > 0 ? (
          <>
            <p className="hidden" role="status">
              {total ?? rows.length} patients found
            </p>
            <Table
              label="Patients"
              rows={rows.map(patientLineOf)}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              onOpen={({ id }) => goTo(hashOf('patients', [id]))}
              total={total}
              onEnd={list.loadMore}
            />
            <p className="fine">
              {total === undefined || total === rows.length
                ? rows.length === 1
                  ? '1 patient'
                  : `${rows.length} patients`
                : `${rows.length} of ${total} patients; scroll for more`}
            </p>
          </>
        ) : isEmptyQuery(query) ? (
          <Empty title="No patient is stored yet" command="npm run demo -- --keep">
            The demo stores a generated chart. Or send your own: PUT /fhir/Patient/&#123;id&#125;
          </Empty>
        ) : (
          <Empty title="No patient matches">
            Names match from their beginning. Try fewer words, or a year for the birth date.
          </Empty>
        )
      }
    </Answer>
  );
}
