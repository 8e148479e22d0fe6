import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { type StoredResource } from '../../model/stored-resource';

/** The rules of one resource type. `R` is the type of the result of `check`, which `store` receives. */
export interface ResourceRule<R = void> {
  /**
   * Refuses an invalid resource, and does slow work such as hashing. It runs before the transaction, except for a
   * patch, a conditional update, or a type with {@link shown}.
   * @throws ServiceError 'unprocessable' with the expression at fault
   */
  check(draft: ResourceDraft): Promise<R> | R;
  /** Whether the check covers a profile, so that the StructureDefinition of the profile need not be stored. */
  checksProfile?(canonical: string): boolean;
  /**
   * Moves data that must not be part of the body (secrets) to tables of the rule's own module. It runs inside the
   * transaction.
   */
  store?(draft: ResourceDraft, checked: R, previous: Resource | undefined): Promise<void>;
  /**
   * The text for the caller who read or wrote this resource directly; undefined if it is the stored text. Bundles,
   * searches and histories always return the stored text. For a write it runs in the transaction, after the write.
   */
  shown?(resource: StoredResource): Promise<string | undefined>;
}

/**
 * Registers the {@link ResourceRule} of one resource type.
 * @example
 * &#64;Injectable()
 * &#64;ForResourceType('Ward')
 * export class BedsRule implements ResourceRule {
 *   check({ value }: ResourceDraft): void {
 *     if (!Number.isInteger(value.beds))
 *       throw new ServiceError('unprocessable', 'beds must be a whole number.', { expression: 'Ward.beds' });
 *   }
 * }
 */
export const ForResourceType = DiscoveryService.createDecorator<string>();
