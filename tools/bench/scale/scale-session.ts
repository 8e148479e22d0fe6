import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../src/platform/database/data-source-options';
import { Statements } from '../../../src/platform/database/statements';
import { UnitOfWork } from '../../../src/platform/database/unit-of-work';
import { RequestContext } from '../../../src/platform/request/request-context';
import { Slices } from '../../../src/platform/time/slices';
import { type RowHashes } from '../../../src/search-index/extract/row-hashes';
import { readRowHashes } from '../../../src/search-index/read-row-hashes';
import { LateTexts } from '../../../src/store/late-texts';
import { ResourceReader } from '../../../src/store/resource-reader';
import { ClauseResolver } from '../../../src/search/run/clause-resolver';
import { IncludedResources } from '../../../src/search/include/included-resources';
import { NamedResources } from '../../../src/search/include/named-resources';
import { RowFrequencies } from '../../../src/search/run/row-frequencies';
import { ValueSetCodes } from '../../../src/search/run/value-set-codes';

/** One connection with the server's settings, and the server's own services on it. */
export interface ScaleSession {
  readonly hashes: RowHashes;
  readonly statements: Statements;
  readonly resolver: ClauseResolver;
  readonly included: IncludedResources;
  readonly frequencies: RowFrequencies;
  /** The PostgreSQL process of the connection. */
  readonly backendPid: number;
  close(): Promise<void>;
}

export async function openScaleSession(url: string): Promise<ScaleSession> {
  const limits = { poolSize: 1, statementTimeoutSeconds: 60 };
  const dataSource = await new DataSource(dataSourceOptions(url, limits)).initialize();
  const requests = new RequestContext();
  const unitOfWork = new UnitOfWork(dataSource, requests);
  const statements = new Statements(dataSource, unitOfWork);
  const hashes = await readRowHashes(statements);
  const frequencies = new RowFrequencies(statements);
  await frequencies.load();
  const facts = await statements.runOne<{ pid: number }>({ name: '', text: 'select pg_backend_pid() as pid' }, []);
  const texts = new LateTexts(new ResourceReader(statements), statements, requests, new Slices(requests));
  return {
    hashes,
    statements,
    resolver: new ClauseResolver(statements, new ValueSetCodes(statements, hashes), hashes),
    included: new IncludedResources(statements, new NamedResources(statements, texts, hashes)),
    frequencies,
    backendPid: facts?.pid ?? 0,
    close: () => dataSource.destroy(),
  };
}
