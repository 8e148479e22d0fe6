import { type Server } from 'node:http';
import { type Statement } from '../../src/platform/database/statement';
import { Statements } from '../../src/platform/database/statements';
import { RequestContext } from '../../src/platform/request/request-context';
import { type TestApp } from '../../testing/test-app';

/**
 * Names of the statements that the server runs for the requests of `work`. Statements of background work and of earlier
 * requests may run at the same time and are not counted. Statements about guessed secrets are counted: they run outside
 * of the request that they belong to.
 */
export async function statementsOf(app: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const requests = app.provider(RequestContext);
  const statements: { run: (statement: Statement, values: readonly unknown[]) => unknown } = app.provider(Statements);
  const run = statements.run.bind(statements);
  const begun = new Set<unknown>();
  const note = (request: unknown): unknown => begun.add(request);
  const names: string[] = [];
  const server: Server = app.app.getHttpServer();
  server.prependListener('request', note);
  statements.run = (statement, values) => {
    if (isCounted(statement) && (begun.has(requests.origin) || isOfGuesses(statement))) names.push(statement.name);
    return run(statement, values);
  };
  try {
    await work();
  } finally {
    statements.run = run;
    server.off('request', note);
  }
  return names;
}

const isOfGuesses = ({ name }: Statement): boolean => name.startsWith('guess-');

/** A search starts this statement when the statistics are outdated, and does not wait for it. */
const isCounted = ({ name }: Statement): boolean => name !== 'search-row-frequencies';
