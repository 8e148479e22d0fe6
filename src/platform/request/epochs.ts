/** The epochs in `registry_epoch` at one moment. */
export interface Epochs {
  /** Raised by changes to cached registries (policies, topics, the compartment). */
  readonly registries: number;
  /** Raised by all changes that decide who receives a write: registries, Users, Clients and Roles. */
  readonly rights: number;
}
