import { type Resource } from '../fhir/types';

/** Whether a User or Client may act: it is stored, and nobody has set it inactive; a User by `inactive`, a Client by `active`. */
export function mayAct(type: 'User' | 'Client', stored: Resource | undefined): boolean {
  return stored !== undefined && (type === 'User' ? stored.inactive !== true : stored.active !== false);
}
