import { Client } from 'pg';

/** Records the text of each command that this process sends to PostgreSQL, including BEGIN and COMMIT. */
export class StatementLog {
  private readonly texts: string[] = [];

  constructor() {
    const send = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown;
    const { texts } = this;
    // pg reports no sent commands, so this replaces the method of its clients.
    Reflect.set(Client.prototype, 'query', function (this: Client, ...given: unknown[]): unknown {
      texts.push(textOf(given[0]));
      return send.apply(this, given);
    });
  }

  /** Statements sent since the last call. */
  take(): readonly string[] {
    return this.texts.splice(0);
  }
}

const textOf = (command: unknown): string =>
  typeof command === 'string' ? command : ((command as { readonly text?: string }).text ?? '');
