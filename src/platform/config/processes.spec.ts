import { describe, expect, it } from '@jest/globals';
import { type Environment, readEnvironment, readEnvironmentOfOne } from './environment';
import { shareOf } from './processes';

const read = (variables: Readonly<Record<string, string>>): Environment =>
  readEnvironment({ DATABASE_URL: 'postgresql://localhost/svc', ...variables });

describe('the processes of a server', () => {
  it('are as many as SVC_PROCESSES, and the default pool size and memory budget grow with their number', () => {
    const { processes, processesNote, databasePoolSize, memoryBudgetBytes } = read({ SVC_PROCESSES: '16' });
    expect([processes, processesNote]).toEqual([16, undefined]);
    expect([databasePoolSize, memoryBudgetBytes]).toEqual([64, 16 * 320 * 1024 ** 2]);
  });

  it('divide connections, memory and slots between them, and get at least one of each', () => {
    const share = shareOf(read({ SVC_PROCESSES: '4', SVC_DATABASE_POOL_SIZE: '18', SVC_PASSWORD_HASH_SLOTS: '2' }));
    expect(share).toMatchObject({
      ...{ databasePoolSize: 4, memoryBudgetBytes: 320 * 1024 ** 2, deliverySlots: 1 },
      ...{ passwordHashSlots: 1, passwordHashQueue: 125, deliveryBufferBytes: 16 * 1024 ** 2 },
    });
  });

  it.each([
    ['SVC_DATABASE_POOL_SIZE', { SVC_DATABASE_POOL_SIZE: '4' }, 2, '2 connections of SVC_DATABASE_POOL_SIZE'],
    [
      'SVC_MEMORY_BUDGET_BYTES',
      { SVC_MEMORY_BUDGET_BYTES: '335544320' },
      1,
      '335544320 bytes of SVC_MEMORY_BUDGET_BYTES for a body of SVC_BODY_LIMIT_BYTES',
    ],
    ['the body limit', { SVC_BODY_LIMIT_BYTES: '41943040' }, 2, '671088640 bytes of SVC_MEMORY_BUDGET_BYTES'],
  ])('are fewer if %s is too small for the largest request', (_name, variables, count, reason) => {
    const { processes, processesNote } = read({ SVC_PROCESSES: '4', ...variables });
    expect(processes).toBe(count);
    expect(processesNote).toContain(`Processes: ${count} instead of 4, since each needs ${reason}`);
  });

  it('are one with the embedded database, and one if the caller supports only one', () => {
    expect(readEnvironment({}).processes).toBe(1);
    const { processes, processesNote } = readEnvironment({ SVC_PROCESSES: '4' });
    expect([processes, processesNote]).toEqual([1, expect.stringContaining('since the embedded database has one')]);
    const alone = readEnvironmentOfOne({ DATABASE_URL: 'postgresql://localhost/svc', SVC_PROCESSES: '4' });
    expect([alone.processes, alone.databasePoolSize]).toEqual([1, 16]);
  });
});
