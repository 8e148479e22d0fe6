import { type Migration } from '../migration';

/**
 * Deliveries and failures of the latest 24 hours, in the row that each attempt changes anyway: to count them in the log of attempts
 * would read hours of it. Element `hour % 24 + 1` is that of the hour that stands in `hour_numbers`, in hours since 1970.
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
