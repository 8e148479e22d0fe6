import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { histogramSamples } from '../platform/metrics/histogram';
import { type MetricFamily, single } from '../platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../platform/metrics/metric-source';
import { LATENCY_BOUNDS_SECONDS } from './delivery-statements';
import { COUNT } from './destination-statements';
import { Destinations } from './destinations';

/** Maximum number of destinations in the metrics. Each has about 25 lines. */
const MAX_DESTINATIONS = 1_000;
/** The time limit for reading these metrics. A scraper times out after ten seconds by default. */
const TIME_LIMIT_SECONDS = 5;
const PREFIX = 'svc_topic_destination';
const OMITTED = `Destinations beyond the first ${MAX_DESTINATIONS}, not listed here.`;

/** Metric families with a sample for each destination: type, name, help text, and member of the status. */
const FAMILIES = [
  ['gauge', 'messages_queued', 'Events that wait for a batch.', 'eventsQueued'],
  ['gauge', 'messages_in_process', 'Events of the batch that is being delivered.', 'eventsInProcess'],
  ['gauge', 'oldest_message_age_seconds', 'Age of the oldest undelivered event; 0 without any.', 'oldestAge'],
  ['gauge', 'failures_in_a_row', 'Failed attempts since the last delivery.', 'failStreak'],
  ['counter', 'messages_delivered_total', 'Events delivered.', 'deliveredEvents'],
  ['counter', 'messages_failed_total', 'Events of failed attempts, counted again at each.', 'failedEvents'],
  ['counter', 'batches_delivered_total', 'Batches delivered.', 'deliveredBatches'],
  ['counter', 'batches_failed_total', 'Failed attempts.', 'failedBatches'],
] as const;

/** The metrics of destinations: the values of `$status` for all of them. They are the same on every replica. */
@Injectable()
@MetricsFrom({ source: 'destinations', path: '/metrics', of: 'cluster' })
export class DeliveryMetrics implements MetricSource {
  constructor(
    private readonly destinations: Destinations,
    private readonly statements: Statements,
  ) {}

  async read(): Promise<readonly MetricFamily[]> {
    const limit = new TimeLimit(TIME_LIMIT_SECONDS, 'The queues took too long to count');
    const [stored, rows] = await this.statements.within(limit, async () => [
      await this.statements.runOne<{ destinations: number }>(COUNT, []),
      await this.destinations.statusFrom('', MAX_DESTINATIONS),
    ]);
    const count = stored?.destinations ?? 0;
    return [
      single('gauge', `${PREFIX}s`, 'Destinations that are stored.', count),
      single('gauge', `${PREFIX}s_omitted`, OMITTED, Math.max(0, count - rows.length)),
      ...FAMILIES.map(([type, name, help, member]): MetricFamily => ({
        name: `${PREFIX}_${name}`,
        type,
        help,
        samples: rows.map((row) => ({ labels: { destination: row.id }, value: row[member] ?? 0 })),
      })),
      {
        name: `${PREFIX}_delivery_seconds`,
        type: 'histogram',
        help: 'Time of events from their change to their delivery.',
        samples: rows.flatMap(({ id, latencyCounts, latencySeconds, deliveredEvents: all }) =>
          histogramSamples({ destination: id }, LATENCY_BOUNDS_SECONDS, [...latencyCounts, all], latencySeconds),
        ),
      },
    ];
  }
}
