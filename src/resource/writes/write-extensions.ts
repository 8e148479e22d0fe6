import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { ResourceChangeListeners } from '../hooks/resource-change.registry';
import { type ResourceDraft } from '../../model/resource-draft';
import { ResourceRules } from '../hooks/resource-rule.registry';
import { WriteValidation } from '../validation/write-validation';

/** A draft that its type's rule has accepted, and that is valid: by validation, or because code of this server made it. */
export interface CheckedDraft {
  /** False when the write is the one statement of its row: no rule stores, nothing is looked up; listeners aside. */
  readonly needsTransaction: boolean;
  /** Whether listeners want to see the write. */
  readonly isConcerning: boolean;
  /** Looks references up, and lets the rule move what is not part of the body to its own tables; inside the transaction. */
  store(previous: Resource | undefined): Promise<void>;
}

/** What every write has to satisfy, and what modules hang onto writes: the rule of the type, and listeners. */
@Injectable()
export class WriteExtensions {
  constructor(
    private readonly rules: ResourceRules,
    private readonly listeners: ResourceChangeListeners,
    private readonly validation: WriteValidation,
  ) {}

  /**
   * @param willExist keys (`Patient/p7`) that the transaction writes besides, which references may name
   * @throws ServiceError 'unprocessable' with all faults of the resource, or what its rule throws.
   */
  async check(draft: ResourceDraft, willExist?: ReadonlySet<string>): Promise<CheckedDraft> {
    const isConcerning = await this.listeners.concerns(draft.type);
    const rule = this.rules.of(draft.type);
    const { isOwn } = draft;
    const checked = isOwn ? await rule?.check(draft) : await this.checkSent(draft);
    return {
      needsTransaction: rule?.store !== undefined || (!isOwn && this.validation.needsTransaction),
      isConcerning,
      store: async (previous) => {
        if (!isOwn) await this.validation.assertReferences(draft, willExist);
        await rule?.store?.(draft, checked, previous);
      },
    };
  }

  /** Types of R4 are validated before a rule does slow work; the rule of an own type knows better words than its shape. */
  private async checkSent(draft: ResourceDraft): Promise<unknown> {
    const isR4 = isR4ResourceType(draft.type);
    if (isR4) await this.validation.assertValid(draft);
    const checked = await this.checkByRule(draft);
    if (!isR4) await this.validation.assertValid(draft);
    return checked;
  }

  /** What a rule refuses may be there misspelt: what the shape does not know is told with it. */
  private async checkByRule(draft: ResourceDraft): Promise<unknown> {
    try {
      return await this.rules.of(draft.type)?.check(draft);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'unprocessable' || isR4ResourceType(draft.type))
        throw error;
      const { expression = draft.type, issues = [ruleIssue(error, 'invalid', expression)] } = error.details;
      const others = (await this.validation.issuesOf(draft)).filter(
        (issue) => issue.code === 'structure' && issues.every((told) => told.expression !== issue.expression),
      );
      if (others.length === 0) throw error;
      throw new ServiceError(error.kind, error.message, { ...error.details, issues: [...issues, ...others] });
    }
  }

  /**
   * What a write of the draft would be refused for, and what it would be warned of; nothing is stored.
   * @param profiles canonicals beside those of `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, profiles: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const issues = await this.validation.issuesOf(draft, profiles);
    return issues.some(({ severity }) => severity === 'error') ? issues : [...issues, ...(await this.refusalOf(draft))];
  }

  /** References of the draft whose targets are not stored, where `SVC_REFERENCE_CHECK` asks for them. */
  missingReferences(draft: ResourceDraft): Promise<readonly ErrorIssue[]> {
    return this.validation.missingReferences(draft);
  }

  private async refusalOf(draft: ResourceDraft): Promise<readonly ErrorIssue[]> {
    try {
      await this.rules.of(draft.type)?.check(draft);
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
