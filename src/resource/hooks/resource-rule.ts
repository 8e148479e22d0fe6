import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { type StoredResource } from '../../model/stored-resource';

/**
 * The rules of one resource type. `R` is the check's result, handed on to `store`.
 */
export interface ResourceRule<R = void> {
  /**
   * Refuses a bad resource and does slow work (hashing), before the transaction.
   * @throws ServiceError 'unprocessable' with the expression at fault.
   */
  check(draft: ResourceDraft): Promise<R> | R;
  /** Whether the check covers a profile: no StructureDefinition has to be stored for it. */
  checksProfile?(canonical: string): boolean;
  /** Moves what must not be part of the body (secrets) to tables of the rule's own module, inside the transaction. */
  store?(draft: ResourceDraft, checked: R, previous: Resource | undefined): Promise<void>;
  /**
   * The text of a resource as it is shown to the present caller, who reads or wrote it by itself, where that is more than is
   * stored; undefined where it is not. Bundles, searches and histories show what is stored.
   */
  shown?(resource: StoredResource): Promise<string | undefined>;
}

/** Registers the {@link ResourceRule} of one resource type. */
export const ForResourceType = DiscoveryService.createDecorator<string>();
