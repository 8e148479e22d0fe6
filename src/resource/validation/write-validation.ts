import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { Slices } from '../../platform/time/slices';
import { MetaStyles } from '../../model/meta-styles';
import { type ResourceDraft } from '../../model/resource-draft';
import { mayNameProfiles, ProfileValidation } from './profile-validation';
import { ReferenceExistence } from './reference-existence';
import { assertNoErrors, ResourceValidation } from './resource-validation';

/** What every write has to satisfy, whatever its type: definitions, profiles, references. */
@Injectable()
export class WriteValidation {
  constructor(
    private readonly validation: ResourceValidation,
    private readonly profiles: ProfileValidation,
    private readonly references: ReferenceExistence,
    private readonly styles: MetaStyles,
    private readonly slices: Slices,
  ) {}

  /** Whether references are looked up, which the write's transaction has to do. */
  get needsTransaction(): boolean {
    return this.references.isOn;
  }

  /**
   * All errors and warnings of the content; nothing is stored, and references are not looked up.
   * @param more canonicals of profiles beside those of `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, more: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const value = this.storedOf(draft);
    const { issues, extensionUrls } = await this.slices.run(this.validation.check(value));
    // What is built wrongly says nothing more to a profile.
    if (issues.some(({ code }) => code === 'structure')) return issues;
    if (more.length === 0 && extensionUrls.length === 0 && !mayNameProfiles(value)) return issues;
    const known = new Set(issues.map(({ code, expression }) => `${code} ${expression}`));
    const added = await this.profiles.issuesOf(value, more, extensionUrls, draft.characters);
    return [...issues, ...added.filter(({ code, expression }) => !known.has(`${code} ${expression}`))];
  }

  /** What was sent, but for a time of creation, which is the server's own: a false one there is no fault, as it is not stored. */
  private storedOf({ type, value }: ResourceDraft): Resource {
    if (value.meta === undefined) return value;
    const meta = this.styles.of(type).withoutCreation(value.meta);
    if (meta === value.meta) return value;
    const { meta: _sent, ...others } = value;
    return Object.keys(meta).length === 0 ? others : { ...value, meta };
  }

  /** @throws ServiceError 'unprocessable' with all errors. */
  async assertValid(draft: ResourceDraft): Promise<void> {
    assertNoErrors(draft.type, await this.issuesOf(draft));
  }

  /**
   * Inside of the transaction.
   * @param willExist keys (`Patient/p7`) that the transaction writes besides
   * @throws ServiceError 'unprocessable' naming each reference whose target is missing.
   */
  async assertReferences(draft: ResourceDraft, willExist?: ReadonlySet<string>): Promise<void> {
    assertNoErrors(draft.type, await this.missingReferences(draft, willExist));
  }

  /** One issue for each reference whose target is missing, as {@link assertReferences}; outside of a transaction as of now. */
  async missingReferences(
    { type, id, value }: ResourceDraft,
    willExist?: ReadonlySet<string>,
  ): Promise<readonly ErrorIssue[]> {
    if (!this.references.isOn || !isR4ResourceType(type)) return [];
    return this.references.missing([id === undefined ? value : { ...value, id }], willExist);
  }
}
