import { type Migration } from '../migration';

/**
 * Counts of deliveries and failures for each of the last 24 hours, in the row that each attempt changes anyway.
 * Counting them in the log of attempts would read hours of it. Hours are numbered from 1970. The hour `n` is in element
 * `n % 24 + 1` of the arrays, and `hour_numbers` says to which hour each element belongs.
 */
export const countDeliveriesByHour: Migration = {
  name: 'CountDeliveriesByHour1795000000411',
  statements: [
    `
      alter table destination_runtime
        add column hour_numbers integer[] not null default '{}',
        add column hour_delivered integer[] not null default '{}',
        add column hour_failed integer[] not null default '{}'`,
  ],
};
