import { type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { pipelined } from './pipelined';
import { type Pooling } from './pooler';

export type Settings = Readonly<Record<string, string | number>>;

/** Matches a text that begins a transaction, also directly after the end of another transaction. */
const BEGINS = /^(?:commit; )?(?:begin|start transaction)[^;]*/i;

/** Matches a text that ends a transaction. `ROLLBACK TO SAVEPOINT` does not. */
const ENDS = /^(?:commit|rollback)(?:;|$)/i;

const BACK_TO_DEFAULT = /^SET LOCAL (\w+) TO DEFAULT$/;

type Send = (config: string | QueryConfig, values?: unknown[]) => Promise<QueryResult>;

/**
 * Sends `settings` with the BEGIN of each transaction, and wraps each single statement in a transaction. Behind a
 * pooler, each transaction may run in another backend, and a setting of the session would affect other clients. SET
 * LOCAL takes no snapshot, so a transaction above READ COMMITTED can still take locks before its snapshot.
 */
export function sendSettingsWithTransactions(client: PoolClient, pooling: Pooling, settings: Settings): void {
  const { parsedStatements } = client.connection;
  const run = client.query.bind(client) as Send;
  const send: Send = (config, values) => {
    const result = run(config, values);
    // Marks a named statement as already parsed. A pooler that renames statements keeps the name even if its Parse
    // message fails, and accepts no second Parse of the same name.
    if (pooling === 'transaction' && typeof config !== 'string' && config.name)
      parsedStatements[config.name] ??= config.text;
    return result;
  };
  const setAll = Object.keys(settings).map(set).join('; ');
  let isOpen = false;
  const query: Send = async (config, values) => {
    const text = typeof config === 'string' ? config : config.text;
    if (BEGINS.test(text)) {
      isOpen = true;
      return send(text.replace(BEGINS, (begin) => `${begin}; ${setAll}`));
    }
    if (isOpen) {
      if (ENDS.test(text)) isOpen = false;
      const [, name = ''] = BACK_TO_DEFAULT.exec(text) ?? [];
      return name in settings ? send(set(name)) : send(config, values);
    }
    const { stream } = client.connection;
    stream.cork();
    const sent = [send(`BEGIN; ${setAll}`), send(config, values), send('COMMIT')] as const;
    stream.uncork();
    return (await pipelined(sent))[1];
  };
  Object.assign(client, { query });

  function set(name: string): string {
    return `SET LOCAL ${name} = '${settings[name]}'`;
  }
}
