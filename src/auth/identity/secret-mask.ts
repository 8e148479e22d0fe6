import { type Resource } from '../../fhir/types';
import { withMember } from '../../platform/json/json-members';
import { memberOf } from '../../platform/json/plain-object';
import { type ResourceDraft } from '../../model/resource-draft';
import { refused } from './shape';

/** The text that bodies contain instead of a secret. A write that contains this text keeps the stored secret. */
const SECRET_MASK = '***';

/** The path of a secret in a User or Client: a member, or a member of a nested object. */
export type SecretPath = 'password' | 'secret' | 'twoFactor.secretKey';

/** Replaces the secret in a draft by the mask. @returns the secret; undefined if there is none, or only the mask */
export function takeSecret(draft: ResourceDraft, path: SecretPath): string | undefined {
  const secret = valueAt(draft.value, path);
  if (typeof secret !== 'string' || secret === SECRET_MASK) return undefined;
  mask(draft, path);
  return secret;
}

/**
 * Writes the mask into the draft if a secret is stored.
 * @throws ServiceError 'unprocessable' if the draft has the mask but no secret is stored: the caller relies on a secret
 * that does not exist.
 */
export function keepSecret(draft: ResourceDraft, path: SecretPath, previous: Resource | undefined): void {
  if (previous !== undefined && valueAt(previous, path) !== undefined) {
    mask(draft, path);
  } else if (valueAt(draft.value, path) !== undefined) {
    throw refused(`${draft.type}.${path}`, 'is masked, but none is stored. Send it in full');
  }
}

function valueAt(resource: Resource, path: SecretPath): unknown {
  const [outer = '', inner] = path.split('.');
  const value = resource[outer];
  return inner === undefined ? value : memberOf(value, inner);
}

function mask(draft: ResourceDraft, path: SecretPath): void {
  const [outer = '', inner] = path.split('.');
  const maskText = JSON.stringify(SECRET_MASK);
  draft.setMember(outer, inner === undefined ? maskText : withMember(draft.member(outer) ?? '{}', inner, maskText));
}
