import { type BatchOrigin, type DeliveryBatch, type DeliveryEvent } from './notification-renderer';

/** The largest batch that a destination may ask for: all events of a batch are in memory at once. */
export const MAX_BATCH_EVENTS = 10_000;

/** Columns of a batch that are arrays with a value for each event, each with the column of the queue that it copies. */
export const EVENT_COLUMNS = {
  event_ids: 'event_id',
  recorded_at: 'recorded_at',
  payload_bytes: 'payload_bytes',
  versions: 'version',
  resource_types: 'resource_type',
  resource_ids: 'resource_id',
  interactions: 'interaction',
  methods: 'method',
  undecided: 'is_undecided',
  correlation_ids: 'correlation_id',
};
export const ARRAYS = Object.keys(EVENT_COLUMNS).join(', ');

/** A stored batch. Most of its columns are arrays: the first value of each belongs to the first event, and so on. */
export interface BatchRow {
  readonly first_number: number;
  readonly created_at: Date;
  readonly origin: BatchOrigin | null;
  readonly versions: readonly number[];
  readonly resource_types: readonly string[];
  readonly resource_ids: readonly string[];
  readonly interactions: readonly string[];
  readonly methods: readonly string[];
  readonly undecided: readonly boolean[];
  readonly correlation_ids: readonly (string | null)[];
}

export const batchIn = (
  row: BatchRow,
  { destinationId, presentation }: Pick<DeliveryBatch, 'destinationId' | 'presentation'>,
): DeliveryBatch => ({
  destinationId,
  presentation,
  createdAt: row.created_at,
  origin: row.origin,
  firstNumber: row.first_number,
  events: row.versions.map((version, index): DeliveryEvent => ({
    type: row.resource_types[index] ?? '',
    id: row.resource_ids[index] ?? '',
    version,
    interaction: row.interactions[index] ?? '',
    method: row.methods[index] ?? '',
    isUndecided: row.undecided[index] ?? false,
    correlationId: row.correlation_ids[index] ?? undefined,
  })),
});
