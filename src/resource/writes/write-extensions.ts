import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { ResourceChangeListeners } from '../hooks/resource-change.registry';
import { type ResourceDraft } from '../../model/resource-draft';
import { ResourceRules } from '../hooks/resource-rule.registry';
import { WriteValidation } from '../validation/write-validation';

/** A draft accepted by the rule of its type, and valid: by validation, or because code of this server made it. */
export interface CheckedDraft {
  /**
   * False if the write is a single statement: no rule stores data and nothing is looked up. Listeners are not
   * considered.
   */
  readonly needsTransaction: boolean;
  /** Whether listeners need the write. */
  readonly isConcerning: boolean;
  /** Checks references, and lets the rule move data out of the body into its own tables; inside the transaction. */
  store(previous: Resource | undefined): Promise<void>;
}

/** Checks and hooks of every write: validation, the rule of the type, and listeners. */
@Injectable()
export class WriteExtensions {
  constructor(
    private readonly rules: ResourceRules,
    private readonly listeners: ResourceChangeListeners,
    private readonly validation: WriteValidation,
  ) {}

  /**
   * @param willExist other keys (`Patient/p7`) that the transaction writes, which references may name
   * @throws ServiceError 'unprocessable' with all faults of the resource, or any error of its rule
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

  /**
   * R4 types are validated before a rule does slow work. For own types the rule runs first: its messages are better
   * than those of the shape.
   */
  private async checkSent(draft: ResourceDraft): Promise<unknown> {
    const isR4 = isR4ResourceType(draft.type);
    if (isR4) await this.validation.assertValid(draft);
    const checked = await this.checkByRule(draft);
    if (!isR4) await this.validation.assertValid(draft);
    return checked;
  }

  /** If a rule reports a missing member, reports unknown members too: one may be the misspelt name. */
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
   * The errors and warnings that a write of the draft would have; nothing is stored.
   * @param profiles canonicals in addition to `meta.profile`
   */
  async issuesOf(draft: ResourceDraft, profiles: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const issues = await this.validation.issuesOf(draft, profiles);
    return issues.some(({ severity }) => severity === 'error') ? issues : [...issues, ...(await this.refusalOf(draft))];
  }

  /** References of the draft without a stored target, if `SVC_REFERENCE_CHECK` enables the check. */
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
