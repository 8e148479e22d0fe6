import { type DeliveryEvent } from './notification-renderer';

/** Columns of a batch as they are read: the first of each belongs to the first event. */
export interface EventArrays {
  readonly versions: readonly number[];
  readonly resource_types: readonly string[];
  readonly resource_ids: readonly string[];
  readonly interactions: readonly string[];
  readonly methods: readonly string[];
  readonly undecided: readonly boolean[];
  readonly correlation_ids: readonly (string | null)[];
}

export const eventsIn = (batch: EventArrays): DeliveryEvent[] =>
  batch.versions.map((version, index) => ({
    type: batch.resource_types[index] ?? '',
    id: batch.resource_ids[index] ?? '',
    version,
    interaction: batch.interactions[index] ?? '',
    method: batch.methods[index] ?? '',
    isUndecided: batch.undecided[index] ?? false,
    correlationId: batch.correlation_ids[index] ?? undefined,
  }));
