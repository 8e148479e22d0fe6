import { Injectable } from '@nestjs/common';
import { type Meta, type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { Slices } from '../../platform/time/slices';
import { MetaStyles } from '../../model/meta-style';
import { type ResourceDraft } from '../../model/resource-draft';
import { ResourceTypes } from '../../model/resource-types';
import { ResourceValidator } from '../../validator/validator';
import { ProfileValidation } from './profile-validation';

/**
 * Validates the content of every write: by HL7's definitions of its type, or by the shape that a module registers, and
 * by profiles. A type without a shape allows any content.
 */
@Injectable()
export class WriteValidation {
  private built: ResourceValidator | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly profiles: ProfileValidation,
    private readonly styles: MetaStyles,
    private readonly slices: Slices,
  ) {}

  /**
   * All errors and warnings of the content. Nothing is stored, and references are not checked.
   * @param more canonicals of profiles in addition to `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, more: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const value = this.storedOf(draft);
    const { issues, extensionUrls } = await this.slices.run(this.validator.run(draft.type, withoutServerMeta(value)));
    // After structural errors, checks by profiles would be meaningless.
    if (issues.some(({ code }) => code === 'structure')) return issues;
    if (more.length === 0 && extensionUrls.length === 0 && !mayNameProfiles(value)) return issues;
    const known = new Set(issues.map(({ code, expression }) => `${code} ${expression}`));
    const added = await this.profiles.issuesOf(value, more, extensionUrls, draft.characters);
    return [...issues, ...added.filter(({ code, expression }) => !known.has(`${code} ${expression}`))];
  }

  /** @throws ServiceError 'unprocessable' with all errors */
  async assertValid(draft: ResourceDraft): Promise<void> {
    assertNoErrors(draft.type, await this.issuesOf(draft));
  }

  /** Created at the first write, since modules have registered their types by then. */
  private get validator(): ResourceValidator {
    return (this.built ??= new ResourceValidator(this.types.elements));
  }

  /** The sent resource without its creation time. The server replaces that time, so a wrong one is no error. */
  private storedOf({ type, value }: ResourceDraft): Resource {
    if (value.meta === undefined) return value;
    const meta = this.styles.of(type).withoutCreation(value.meta);
    return meta === value.meta ? value : withMeta(value, meta);
  }
}

/** @throws ServiceError 'unprocessable' with all issues, if one of them is an error */
export function assertNoErrors(type: string, issues: readonly ErrorIssue[]): void {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new ServiceError(
    'resource-invalid',
    `The ${type} is not valid. ${first.expression}: ${first.diagnostics}${more}`,
    { issues: errors },
  );
}

/**
 * Whether a resource can name profiles, itself or in resources that it holds. This test avoids the look-up of profiles
 * for most resources.
 */
function mayNameProfiles({ meta, contained, resourceType }: Resource): boolean {
  if (meta?.profile !== undefined || contained !== undefined) return true;
  return resourceType === 'Bundle' || resourceType === 'Parameters';
}

/** The server sets `versionId` and `lastUpdated`, and does not store the sent ones. */
function withoutServerMeta(resource: Resource): Resource {
  if (resource.meta === undefined) return resource;
  const { versionId, lastUpdated, ...meta } = resource.meta;
  return versionId === undefined && lastUpdated === undefined ? resource : withMeta(resource, meta);
}

/** The resource with another `meta`, or without `meta` if that would be empty. */
function withMeta(resource: Resource, meta: Meta): Resource {
  if (Object.keys(meta).length > 0) return { ...resource, meta };
  const { meta: _dropped, ...others } = resource;
  return others;
}
