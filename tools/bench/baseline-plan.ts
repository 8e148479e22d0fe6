import { patientCompartment } from '../../src/fhir/definitions/definitions';
import { localKey } from '../../src/fhir/reference';
import { type Resource } from '../../src/fhir/types';
import { compilePage } from '../../src/search/compile/compile-search';
import { type BoundStatement } from '../../src/store/binder';
import { extractorsBy } from '../../src/search-index/extract/extractor';
import { atOnce } from '../../src/platform/time/steps';
import { type RowHashes } from '../../src/search-index/extract/row-hashes';
import { SearchParameterSet } from '../../src/search-index/extract/search-parameter-set';
import { parseSearch } from '../../src/search/parse/parse-search';
import { countOf } from '../../src/search/query/result-parameters';
import { indexDigestsOf } from '../../src/store/index-digests';
import { insertResources } from '../../src/store/set-statements';
import { columnsOf } from '../../src/store/search-tables';
import { type NewRow, insertResource } from '../../src/store/write-statements';
import { CHARTS, NEW_BUNDLES, NEW_OBSERVATIONS, bundleTextOf, searchQueryOf } from './bench-data';

// Everything that the baseline prepares before it is measured. The SQL is the server's own, so the server and the
// baseline give the database the same work. A request only fills in its values.

const TYPE = 'Observation';
const parameters = new SearchParameterSet();

export interface PlannedSearch {
  readonly count: number;
  readonly page: BoundStatement;
}

/** The prepared requests of the bench, by their query or body. */
export interface BaselinePlan {
  readonly searches: ReadonlyMap<string, PlannedSearch>;
  readonly creates: ReadonlyMap<string, PlannedInsert>;
  readonly transactions: ReadonlyMap<string, PlannedTransaction>;
  /** The links of the Patient compartment, as parameter ids of the reference table. */
  readonly compartmentParameters: readonly number[];
}

/** The values of one database from which, with a resource, the search index rows of the resource follow. */
export interface RowsOfDatabase {
  readonly hashes: RowHashes;
  /** The version of the search parameters. Writes under another version are refused. */
  readonly parametersVersion: number;
}

/** Prepares all requests. */
export function baselinePlan(database: RowsOfDatabase): BaselinePlan {
  return {
    searches: new Map(CHARTS.map(({ patientId }) => plannedSearch(searchQueryOf(patientId), database))),
    creates: new Map(NEW_OBSERVATIONS.map((body) => [body, plannedInsert(body, database)])),
    transactions: new Map(NEW_BUNDLES.map((bodies) => [bundleTextOf(bodies), plannedTransaction(bodies, database)])),
    compartmentParameters: compartmentParameters(),
  };
}

function plannedSearch(text: string, { hashes }: RowsOfDatabase): [string, PlannedSearch] {
  const query = new URLSearchParams(text);
  const { clauses } = parseSearch(query, { type: TYPE, parameters, hashes, baseUrl: '', isLenient: false });
  const count = countOf(query);
  return [text, { count, page: compilePage({ type: TYPE, clauses, count, isCounted: true }) }];
}

function compartmentParameters(): readonly number[] {
  const ids = patientCompartment().resource.flatMap(({ code: type, param = [] }) =>
    param.flatMap((code) => parameters.find(type, code)?.storedAs ?? []),
  );
  return [...new Set(ids)];
}

export interface NewObservation {
  readonly key: number;
  readonly id: string;
  readonly updatedAt: Date;
}

export interface PlannedInsert {
  /** The stored text and the statement that stores it with its search index rows. */
  readonly of: (row: NewObservation) => { readonly text: string } & BoundStatement;
}

/** Placeholders for the values of a request while its statement is compiled. */
const BLANK = { key: -1, id: 'blank id', referenceHash: -2, updatedAt: new Date(0), text: 'blank text' };

function plannedInsert(body: string, database: RowsOfDatabase): PlannedInsert {
  const { statement, values } = atOnce(insertResource({ ...BLANK, ...versionOf(body, database) }));
  const [key, id, hash, updated, text] = [BLANK.key, BLANK.id, BLANK.referenceHash, BLANK.updatedAt, BLANK.text].map(
    (blank) => values.indexOf(blank),
  ) as [number, number, number, number, number];
  const members = body.slice(`{"resourceType":"${TYPE}"`.length);
  return {
    of: (row) => {
      const stored = `{"resourceType":"${TYPE}","id":"${row.id}","meta":${metaOf(row.updatedAt)}${members}`;
      const filled = [...values];
      filled[key] = row.key;
      filled[id] = row.id;
      filled[hash] = database.hashes.ofTarget(localKey(TYPE, row.id));
      filled[updated] = row.updatedAt;
      filled[text] = stored;
      return { text: stored, statement, values: filled };
    },
  };
}

function versionOf(
  body: string,
  { hashes, parametersVersion }: RowsOfDatabase,
): Pick<NewRow, Exclude<keyof NewRow, keyof typeof BLANK>> {
  const rows = atOnce(extractorsBy(parameters, hashes, '')(TYPE)(JSON.parse(body) as Resource));
  const [mainDate, columns] = [new Date(rows.mainDate ?? 0), atOnce(columnsOf(rows))];
  const version = { version: 1, mainDate, present: rows.present, columns, parametersVersion };
  return { ...version, type: TYPE, method: 'POST', indexDigests: atOnce(indexDigestsOf(version, hashes)) };
}

function metaOf(updatedAt: Date): string {
  const instant = updatedAt.toISOString();
  return `{"versionId":"1","lastUpdated":"${instant}","extension":[{"url":"urn:svc:created-at","valueInstant":"${instant}"}]}`;
}

/** Prepares the statement of a transaction under new ids. */
export type PlannedTransaction = (newOf: () => NewObservation) => { rows: NewRow[] } & BoundStatement;

function plannedTransaction(bodies: readonly string[], database: RowsOfDatabase): PlannedTransaction {
  const planned = bodies.map((body) => plannedRow(body, database));
  return (newOf) => {
    const rows = planned.map((rowOf) => rowOf(newOf()));
    return { rows, ...atOnce(insertResources(rows)) };
  };
}

function plannedRow(body: string, database: RowsOfDatabase): (row: NewObservation) => NewRow {
  const known = versionOf(body, database);
  const members = body.slice(`{"resourceType":"${TYPE}"`.length);
  return ({ id, key, updatedAt }) => {
    const text = `{"resourceType":"${TYPE}","id":"${id}","meta":${metaOf(updatedAt)}${members}`;
    return { ...known, id, key, updatedAt, text, referenceHash: database.hashes.ofTarget(localKey(TYPE, id)) };
  };
}
