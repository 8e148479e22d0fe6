import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../resource/resource-draft';

/** What stands in bodies in place of a secret; sent back, it means "keep the stored one". */
export const SECRET_MASK = '***';

/** Takes a secret member out of a draft and leaves the mask; undefined when it was left out or is the mask. */
export function takeSecret(draft: ResourceDraft, member: string): string | undefined {
  const secret = draft.value[member];
  if (typeof secret !== 'string' || secret === SECRET_MASK) return undefined;
  draft.setMember(member, JSON.stringify(SECRET_MASK));
  return secret;
}

/**
 * Shows that the stored secret is kept.
 * @throws ServiceError 'unprocessable' for a mask where none is stored: its sender counts on a secret that nobody has.
 */
export function keepSecret(draft: ResourceDraft, member: string, previous: Resource | undefined): void {
  if (previous?.[member] !== undefined) {
    draft.setMember(member, JSON.stringify(SECRET_MASK));
  } else if (draft.value[member] !== undefined) {
    throw new ServiceError('unprocessable', `${draft.type}.${member} is masked, but none is stored. Send it in full.`, {
      expression: `${draft.type}.${member}`,
    });
  }
}
