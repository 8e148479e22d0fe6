import { Injectable } from '@nestjs/common';
import { isR4ResourceType } from '../fhir/definitions';
import { type Resource } from '../fhir/types';
import { type ResourceChange } from './resource-change';
import { ResourceChangeListeners } from './resource-change.registry';
import { type ResourceDraft } from './resource-draft';
import { ResourceRules } from './resource-rule.registry';
import { assertNoErrors, ResourceValidation } from './validation/resource-validation';

/** A draft that its type's rule has accepted. */
export interface CheckedDraft {
  /** False when the write is the one statement of its row: no rule stores, and no listener is concerned. */
  readonly needsTransaction: boolean;
  /** Lets the rule move what is not part of the body to its own tables; inside the transaction. */
  store(previous: Resource | undefined): Promise<void>;
}

/** What modules hang onto writes: the rule of the type, and listeners. */
@Injectable()
export class WriteExtensions {
  constructor(
    private readonly rules: ResourceRules,
    private readonly listeners: ResourceChangeListeners,
    private readonly validation: ResourceValidation,
  ) {}

  /** @throws ServiceError 'unprocessable' with all faults of the resource, or what its rule throws. */
  async check(draft: ResourceDraft): Promise<CheckedDraft> {
    const isConcerning = await this.concerns(draft.type);
    const rule = this.rules.of(draft.type);
    // Types of R4 are validated before a rule does slow work; the rule of an own type knows better words than its shape.
    if (isR4ResourceType(draft.type)) this.assertValid(draft);
    const checked = await rule?.check(draft);
    if (!isR4ResourceType(draft.type)) this.assertValid(draft);
    return {
      needsTransaction: isConcerning || rule?.store !== undefined,
      store: async (previous) => rule?.store?.(draft, checked, previous),
    };
  }

  private assertValid({ type, value }: ResourceDraft): void {
    assertNoErrors(type, this.validation.issuesOf(value));
  }

  /** Also brings the listeners' registries up to date; asked outside of a transaction, where they can be kept. */
  concerns(type: string): Promise<boolean> {
    return this.listeners.concerns(type);
  }

  notify(change: ResourceChange): Promise<void> {
    return this.listeners.notify(change);
  }
}
