import { type ReactElement } from 'react';
import { type PageProps } from '../../app/pages';
import { PatientRecord } from './PatientRecord';
import { PatientSearch } from './PatientSearch';

/** `#/patients` searches; `#/patients/p7` shows a record; `#/patients/p7/Observation/o1` also opens a resource. */
export default function PatientsPage({ route }: PageProps): ReactElement {
  const [patientId, type, id] = route.steps;
  if (patientId === undefined) return <PatientSearch />;
  const opened = type === undefined || id === undefined ? undefined : { type, id };
  return (
    <PatientRecord key={patientId} patientId={patientId} opened={opened} view={route.query.get('view') ?? 'summary'} />
  );
}
