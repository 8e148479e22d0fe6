import { Connection, type PoolClient } from 'pg';

/**
 * How long to wait for the end of a cancel request. PostgreSQL closes the connection of the request when it has sent
 * the signal.
 */
const LONGEST_MILLISECONDS = 3_000;

/**
 * Cancels the running statement of a connection. It uses a new connection outside the pool, which needs no login
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS). When it resolves, the
 * backend has received the signal, so later statements are not canceled.
 * @throws Error if it is unknown whether or when the backend receives the signal
 */
export function requestCancel(client: PoolClient): Promise<void> {
  const { host, port, ssl, processID, secretKey, sslNegotiation } = client;
  const connection = new Connection({ ssl, sslNegotiation } as object);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => connection.stream.destroy(new Error('No answer to a cancel')), LONGEST_MILLISECONDS);
    const send = (): void => {
      connection.cancel(processID, secretKey);
    };
    connection.once('error', reject);
    connection.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    connection.once('sslconnect', send);
    connection.once('connect', () => {
      if (!ssl) send();
      else if (sslNegotiation !== 'direct') connection.requestSsl();
    });
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
