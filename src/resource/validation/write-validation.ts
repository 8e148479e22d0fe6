import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { Slices } from '../../platform/time/slices';
import { MetaStyles } from '../../model/meta-style';
import { type ResourceDraft } from '../../model/resource-draft';
import { mayNameProfiles, ProfileValidation } from './profile-validation';
import { ReferenceExistence } from './reference-existence';
import { assertNoErrors, ResourceValidation } from './resource-validation';

/** Validates every write of any type: by definitions, by profiles, and for missing references. */
@Injectable()
export class WriteValidation {
  constructor(
    private readonly validation: ResourceValidation,
    private readonly profiles: ProfileValidation,
    private readonly references: ReferenceExistence,
    private readonly styles: MetaStyles,
    private readonly slices: Slices,
  ) {}

  /** Whether references are checked. This check must run in the transaction of the write. */
  get needsTransaction(): boolean {
    return this.references.isOn;
  }

  /**
   * All errors and warnings of the content. Nothing is stored, and references are not checked.
   * @param more canonicals of profiles in addition to `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, more: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const value = this.storedOf(draft);
    const { issues, extensionUrls } = await this.slices.run(this.validation.check(value));
    // After structural errors, checks by profiles would be meaningless.
    if (issues.some(({ code }) => code === 'structure')) return issues;
    if (more.length === 0 && extensionUrls.length === 0 && !mayNameProfiles(value)) return issues;
    const known = new Set(issues.map(({ code, expression }) => `${code} ${expression}`));
    const added = await this.profiles.issuesOf(value, more, extensionUrls, draft.characters);
    return [...issues, ...added.filter(({ code, expression }) => !known.has(`${code} ${expression}`))];
  }

  /** The sent resource without its creation time. The server replaces that time, so a wrong one is no error. */
  private storedOf({ type, value }: ResourceDraft): Resource {
    if (value.meta === undefined) return value;
    const meta = this.styles.of(type).withoutCreation(value.meta);
    if (meta === value.meta) return value;
    const { meta: _sent, ...others } = value;
    return Object.keys(meta).length === 0 ? others : { ...value, meta };
  }

  /**
   * Refuses invalid content.
   * @throws ServiceError 'unprocessable' with all errors
   */
  async assertValid(draft: ResourceDraft): Promise<void> {
    assertNoErrors(draft.type, await this.issuesOf(draft));
  }

  /**
   * Refuses references without a target. It must run inside the transaction of the write.
   * @param willExist other keys (`Patient/p7`) that the transaction writes
   * @throws ServiceError 'unprocessable' naming each reference whose target is missing
   */
  async assertReferences(draft: ResourceDraft, willExist?: ReadonlySet<string>): Promise<void> {
    assertNoErrors(draft.type, await this.missingReferences(draft, willExist));
  }

  /**
   * One issue for each reference whose target is missing, as in {@link assertReferences}. Outside of a transaction, it
   * checks what is stored now.
   */
  async missingReferences(
    { type, id, value }: ResourceDraft,
    willExist?: ReadonlySet<string>,
  ): Promise<readonly ErrorIssue[]> {
    if (!this.references.isOn || !isR4ResourceType(type)) return [];
    return this.references.missing(id === undefined ? value : { ...value, id }, willExist);
  }
}
