import { type Statement } from '../../src/platform/database/statement';
import { Statements } from '../../src/platform/database/statements';
import { type TestApp } from '../../testing/test-app';

/** Names of the statements that the server runs for `work`, without those of background work. */
export async function statementsOf(app: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const statements: { run: (statement: Statement, values: readonly unknown[]) => unknown } = app.app.get<Statements>(
    Statements,
    { strict: false },
  );
  const run = statements.run.bind(statements);
  const names: string[] = [];
  statements.run = (statement, values) => {
    names.push(statement.name);
    return run(statement, values);
  };
  try {
    await work();
  } finally {
    statements.run = run;
  }
  return names.filter(
    (name) => !/^(index|session-touch|try-lock|delivery|outbox|resource-key|notification)/.test(name),
  );
}
