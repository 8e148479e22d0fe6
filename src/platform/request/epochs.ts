export interface Epochs {
  /** The registry epoch. Changes of cached registries (policies, topics, the compartment) raise it. */
  readonly registries: number;
  /**
   * The rights epoch. Changes of registries, Users, Clients and Roles raise it, since these decide who receives the
   * event of a write.
   */
  readonly rights: number;
}
