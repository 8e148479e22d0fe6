import { type NativeReference, type Resource } from '../../fhir/types';

/** A stored grant (interface, "Authentication", rule 5): a request that no policy grants is denied. */
export interface AccessPolicy extends Resource {
  readonly engine: string;
  /** The callers or Operations that it covers, as alternatives. Without links it covers every authenticated caller. */
  readonly link?: readonly NativeReference[];
  /** Covers only Users with a Role of this name. */
  readonly roleName?: string;
  /** Covers requests of one kind only; absent: all. */
  readonly type?: 'rest' | 'rpc';
  /** Limits the grant to resources that match one of these searches. */
  readonly criteria?: string | readonly string[];
}

export const criteriaOf = ({ criteria }: Pick<AccessPolicy, 'criteria'>): readonly string[] =>
  criteria === undefined ? [] : [criteria].flat();
