/** The numbers of `registry_epoch` at one moment. */
export interface Epochs {
  /** Moves with what cached registries (policies, topics, the compartment) are made of. */
  readonly registries: number;
  /** Moves with all that decides who hears of a write: registries, and Users, Clients and Roles. */
  readonly rights: number;
}
