import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { type ResourceName } from '../../parts/body/references';

interface Props {
  /** Of the record that stays open. */
  readonly patientId: string;
  readonly name: ResourceName;
  readonly text?: string;
}

/** Opens another resource in the panel; another patient has a record of its own. */
export function ResourceLink({ patientId, name: { type, id }, text }: Props): ReactElement {
  const steps = type === 'Patient' && id !== patientId ? [id] : [patientId, type, id];
  return <a href={hashOf('patients', steps)}>{text ?? `${type}/${id}`}</a>;
}
