import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { type ResourceChange } from './resource-change';
import { ResourceChangeListeners } from './resource-change.registry';
import { type ResourceDraft } from './resource-draft';
import { ResourceRules } from './resource-rule.registry';

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
  ) {}

  async check(draft: ResourceDraft): Promise<CheckedDraft> {
    const isConcerning = await this.concerns(draft.type);
    const rule = this.rules.of(draft.type);
    const checked = await rule?.check(draft);
    return {
      needsTransaction: isConcerning || rule?.store !== undefined,
      store: async (previous) => rule?.store?.(draft, checked, previous),
    };
  }

  /** Also brings the listeners' registries up to date; asked outside of a transaction, where they can be kept. */
  concerns(type: string): Promise<boolean> {
    return this.listeners.concerns(type);
  }

  notify(change: ResourceChange): Promise<void> {
    return this.listeners.notify(change);
  }
}
