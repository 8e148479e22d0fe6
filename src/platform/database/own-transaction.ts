import { type Pool, type PoolClient } from 'pg';

/**
 * Runs `work` in a transaction on a separate connection. If `work` throws, its writes are rolled back. If the rollback
 * fails too, the connection is destroyed.
 * @param begin the BEGIN of the transaction, which is pipelined with the first statement
 */
export async function inOwnTransaction<T>(
  pool: Pool,
  begin: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    client.query(begin).catch(() => undefined); // a broken connection fails the first statement too
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => (broken = failure as Error));
    throw error;
  } finally {
    client.release(broken);
  }
}
