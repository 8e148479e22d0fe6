import { type NativeReference, type Resource } from '../../fhir/types';

/** A stored grant (interface, "Authentication", rule 5): without one that covers a request, it is denied. */
export interface AccessPolicy extends Resource {
  readonly engine: string;
  /** Whom or what it covers; several are alternatives. Without links it covers every authenticated caller. */
  readonly link?: readonly NativeReference[];
  /** Covers Users with a Role of this name only. */
  readonly roleName?: string;
  /** Requests of one kind only; without it all. */
  readonly type?: 'rest' | 'rpc';
  /** Limits the grant to the resources that one of these finds. */
  readonly criteria?: string | readonly string[];
}

export const criteriaOf = ({ criteria }: Pick<AccessPolicy, 'criteria'>): readonly string[] =>
  criteria === undefined ? [] : [criteria].flat();
