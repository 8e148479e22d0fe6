import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { ResourceChangeListeners } from '../hooks/resource-change.registry';
import { type ResourceDraft } from '../../model/resource-draft';
import { ResourceTypes } from '../../model/resource-types';
import { callHandler } from '../../platform/discovery/handler-calls';
import { ResourceRules } from '../hooks/resource-rule.registry';
import { ReferenceExistence } from '../validation/reference-existence';
import { assertNoErrors, WriteValidation } from '../validation/write-validation';

/** A draft that the rule of its type accepts, and that was validated or made by code of this server. */
export interface CheckedDraft {
  /**
   * Whether the write needs a transaction. It needs none if it is a single statement: no rule stores data, and nothing
   * is looked up. Listeners are not considered here.
   */
  readonly needsTransaction: boolean;
  /** Whether listeners need the write. */
  readonly isConcerning: boolean;
  /**
   * Checks references, and lets the rule move data out of the body into its own tables. It must run inside the
   * transaction.
   */
  store(previous: Resource | undefined): Promise<void>;
}

/** The checks and hooks of every write: validation, the rule of the type, and listeners. */
@Injectable()
export class WriteExtensions {
  constructor(
    private readonly rules: ResourceRules,
    private readonly listeners: ResourceChangeListeners,
    private readonly validation: WriteValidation,
    private readonly references: ReferenceExistence,
    private readonly types: ResourceTypes,
  ) {}

  /**
   * @param willExist other keys (`Patient/p7`) that the transaction writes, which references may name
   * @throws ServiceError 'unprocessable' with all faults of the resource, or any error of its rule
   */
  async check(draft: ResourceDraft, willExist?: ReadonlySet<string>): Promise<CheckedDraft> {
    this.assertDefined(draft.type);
    const isConcerning = await this.listeners.concerns(draft.type);
    const rule = this.rules.of(draft.type);
    const { isOwn } = draft;
    const checked = isOwn ? await this.checkedByRule(draft) : await this.checkSent(draft);
    return {
      needsTransaction: rule?.store !== undefined || (!isOwn && this.references.isOn),
      isConcerning,
      store: async (previous) => {
        if (!isOwn) assertNoErrors(draft.type, await this.references.missing(draft, willExist));
        await rule?.store?.(draft, checked, previous);
      },
    };
  }

  /**
   * Checks content that a caller sent. R4 types are validated first, since their rule may do slow work. For types of
   * this server the rule runs first, since its messages are better than those of the shape.
   */
  private async checkSent(draft: ResourceDraft): Promise<unknown> {
    const isR4 = isR4ResourceType(draft.type);
    if (isR4) await this.validation.assertValid(draft);
    const checked = await this.checkByRule(draft);
    if (!isR4) await this.validation.assertValid(draft);
    return checked;
  }

  /**
   * Checks by the rule of the type. If the rule reports a missing member, unknown members are reported too, since one
   * of them may be the missing one misspelt.
   */
  private async checkByRule(draft: ResourceDraft): Promise<unknown> {
    try {
      return await this.checkedByRule(draft);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'unprocessable' || isR4ResourceType(draft.type))
        throw error;
      const { expression = draft.type, issues = [ruleIssue(error, 'invalid', expression)] } = error.details;
      const others = (await this.validation.issuesOf(draft)).filter(
        (issue) => issue.code === 'structure' && issues.every((reported) => reported.expression !== issue.expression),
      );
      if (others.length === 0) throw error;
      throw new ServiceError(error.kind, error.message, { ...error.details, issues: [...issues, ...others] });
    }
  }

  /**
   * The errors and warnings that a write of the draft would give. Nothing is stored.
   * @param profiles canonicals in addition to `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, profiles: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const issues = await this.validation.issuesOf(draft, profiles);
    return issues.some(({ severity }) => severity === 'error') ? issues : [...issues, ...(await this.refusalOf(draft))];
  }

  /** References of the draft whose target is not stored; none if `SVC_REFERENCE_CHECK` does not enable the check. */
  missingReferences(draft: ResourceDraft): Promise<readonly ErrorIssue[]> {
    return this.references.missing(draft);
  }

  private async checkedByRule(draft: ResourceDraft): Promise<unknown> {
    const rule = this.rules.of(draft.type);
    return rule === undefined ? undefined : callHandler(rule, () => rule.check(draft));
  }

  /**
   * Routes check the type in the URL. A module that misspells a type must not store rows that no request can read.
   * @throws Error for the log, since the caller cannot correct it
   */
  private assertDefined(type: string): void {
    try {
      this.types.assertKnown(type);
    } catch (error) {
      throw new Error(`A module writes "${type}", which is no stored resource type. Correct the type of its draft.`, {
        cause: error,
      });
    }
  }

  private async refusalOf(draft: ResourceDraft): Promise<readonly ErrorIssue[]> {
    try {
      await this.checkedByRule(draft);
      return [];
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'unprocessable') throw error;
      const { issues, expression = draft.type } = error.details;
      return issues ?? [ruleIssue(error, 'business-rule', expression)];
    }
  }
}

const ruleIssue = ({ message: diagnostics }: ServiceError, code: string, expression: string): ErrorIssue => ({
  severity: 'error',
  code,
  diagnostics,
  expression,
});
