import { type Resource } from '../fhir/types';

/** Whether a User or Client is stored and not deactivated. */
export function mayAct(type: 'User' | 'Client', stored: Resource | undefined): boolean {
  return stored !== undefined && (type === 'User' ? stored.inactive !== true : stored.active !== false);
}
