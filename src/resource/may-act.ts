import { type Resource } from '../fhir/types';

/** Whether a User or Client may act. It must be stored and not deactivated (User by `inactive`, Client by `active`). */
export function mayAct(type: 'User' | 'Client', stored: Resource | undefined): boolean {
  return stored !== undefined && (type === 'User' ? stored.inactive !== true : stored.active !== false);
}
