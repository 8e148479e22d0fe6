import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { type ResourceName } from '../../parts/body/references';

interface Props {
  /** The patient of the open record. */
  readonly patientId: string;
  readonly name: ResourceName;
  readonly text?: string;
}

/** Opens another resource in the panel; for another patient it opens that patient's record. */
export function ResourceLink({ patientId, name: { type, id }, text }: Props): ReactElement {
  const steps = type === 'Patient' && id !== patientId ? [id] : [patientId, type, id];
  return <a href={hashOf('patients', steps)}>{text ?? `${type}/${id}`}</a>;
}
