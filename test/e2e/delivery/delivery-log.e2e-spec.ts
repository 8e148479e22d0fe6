import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { DeliveryHousekeeping } from '../../../src/delivery/delivery-housekeeping';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const DAY_MILLISECONDS = 86_400_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_DELIVERY_RETENTION_DAYS: '3' } });
});
afterAll(() => app.close());

const query = <Row extends object>(sql: string): Promise<Row[]> => app.app.get(DataSource).query<Row[]>(sql);

async function partitions(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `select relid::text as name from pg_partition_tree('delivery_attempt') where isleaf order by 1`,
  );
  return rows.map(({ name }) => name.replace('delivery_attempt_', ''));
}

async function dayFromToday(days: number): Promise<string> {
  const [row] = await query<{ now: Date }>('select clock_timestamp() as now');
  const day = new Date((row?.now.getTime() ?? NaN) + days * DAY_MILLISECONDS);
  return day.toISOString().slice(0, 10).replaceAll('-', '');
}

const daysFromToday = (from: number, to: number): Promise<string[]> =>
  Promise.all(Array.from({ length: to - from + 1 }, (_value, index) => dayFromToday(from + index)));

const keepDays = (): Promise<undefined> => app.app.get(DeliveryHousekeeping, { strict: false }).step();

const insertAttempt = (endedAt: string): Promise<object[]> =>
  query(`insert into delivery_attempt
    (destination_key, first_number, ended_at, opened_at, event_count, is_delivered, is_replay, outcome)
    values (1, 1, ${endedAt}, now(), 1, false, false, 'x')`);

describe('The log of delivery attempts', () => {
  it('has partitions for today and the next seven days from the start', async () => {
    expect(await partitions()).toEqual([...(await daysFromToday(0, 7)), 'other']);
  });

  it('drops partitions of days before the retention period, and keeps the others', async () => {
    for (const day of await daysFromToday(-5, -1)) {
      await query(`create table delivery_attempt_${day} partition of delivery_attempt
        for values from ('${day}T00:00Z') to (timestamptz '${day}T00:00Z' + interval '1 day')`);
    }
    await keepDays();
    expect(await partitions()).toEqual([...(await daysFromToday(-3, 7)), 'other']);
  });

  it('stores an attempt of a day without a partition, and deletes it in time', async () => {
    await insertAttempt(`now() + interval '30 days'`);
    await insertAttempt(`now() - interval '30 days'`);
    expect(await query('select outcome from delivery_attempt_other')).toHaveLength(2);
    await keepDays();
    expect(await query('select outcome from delivery_attempt_other')).toHaveLength(1);
  });

  it('is maintained concurrently by several replicas', async () => {
    for (const day of await daysFromToday(0, 7)) await query(`drop table delivery_attempt_${day}`);
    await Promise.all([keepDays(), keepDays(), keepDays()]);
    expect(await partitions()).toEqual([...(await daysFromToday(-3, 7)), 'other']);
  });
});
