import { patientCompartment } from '../../src/fhir/definitions/definitions';
import { localKey } from '../../src/fhir/reference';
import { type Resource } from '../../src/fhir/types';
import { compileListedPage } from '../../src/search/compile/compile-search';
import { type CompiledSearch } from '../../src/platform/database/binder';
import { Extractors } from '../../src/search-index/extract/extractor';
import { atOnce } from '../../src/platform/time/steps';
import { targetHashOf } from '../../src/search-index/extract/hash';
import { type SearchRows } from '../../src/search-index/extract/search-rows';
import { SearchParameterSet } from '../../src/search-index/extract/search-parameter-set';
import { parseSearch } from '../../src/search/parse/parse-search';
import { countOf } from '../../src/search/query/result-parameters';
import { indexDigestsOf } from '../../src/store/index-digests';
import { insertResources } from '../../src/store/insert-many';
import { columnsOf } from '../../src/store/search-tables';
import { type BoundStatement, type NewRow, insertResource } from '../../src/store/write-statements';
import { CHARTS, NEW_BUNDLES, NEW_OBSERVATIONS, bundleTextOf, searchQueryOf } from './bench-data';

// What the floor need not find out while it is measured. The SQL is the server's own, so that both give the database the
// same work; of each request only its values are filled in.

const TYPE = 'Observation';
const parameters = new SearchParameterSet();

/** A search that is known beforehand. */
export interface PlannedSearch {
  readonly count: number;
  readonly page: CompiledSearch;
}

/** What the requests of the bench take, by their query or body. */
export interface FloorPlan {
  readonly searches: ReadonlyMap<string, PlannedSearch>;
  readonly creates: ReadonlyMap<string, PlannedInsert>;
  readonly transactions: ReadonlyMap<string, PlannedTransaction>;
  /** The links of the Patient compartment, as rows of the reference table name them. */
  readonly compartmentParameters: readonly number[];
}

/**
 * Works everything out; the key of the database's hashes must be known.
 * @param parametersVersion of the database; writes by another one are refused
 */
export function floorPlan(parametersVersion: number): FloorPlan {
  return {
    searches: new Map(CHARTS.map(({ patientId }) => plannedSearch(searchQueryOf(patientId)))),
    creates: new Map(NEW_OBSERVATIONS.map((body) => [body, plannedInsert(body, parametersVersion)])),
    transactions: new Map(
      NEW_BUNDLES.map((bodies) => [bundleTextOf(bodies), plannedTransaction(bodies, parametersVersion)]),
    ),
    compartmentParameters: compartmentParameters(),
  };
}

function plannedSearch(text: string): [string, PlannedSearch] {
  const query = new URLSearchParams(text);
  const { clauses } = parseSearch(query, { type: TYPE, parameters, baseUrl: '', isLenient: false });
  const count = countOf(query);
  return [text, { count, page: compileListedPage({ type: TYPE, clauses, count, isCounted: true }) }];
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
  /** The stored text and the statement that stores it with its search rows. */
  readonly of: (row: NewObservation) => { readonly text: string } & BoundStatement;
}

/** Stand for the values of a request while its statement is made. */
const BLANK = { key: -1, id: 'blank id', referenceHash: -2, updatedAt: new Date(0), text: 'blank text' };

function plannedInsert(body: string, parametersVersion: number): PlannedInsert {
  const rows = atOnce(new Extractors(parameters, '').extractorFor(TYPE)(JSON.parse(body) as Resource));
  const { statement, values } = atOnce(insertResource({ ...BLANK, ...versionOf(rows, parametersVersion) }));
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
      filled[hash] = targetHashOf(localKey(TYPE, row.id));
      filled[updated] = row.updatedAt;
      filled[text] = stored;
      return { text: stored, statement, values: filled };
    },
  };
}

function versionOf(
  rows: SearchRows,
  parametersVersion: number,
): Pick<NewRow, Exclude<keyof NewRow, keyof typeof BLANK>> {
  const [mainDate, columns] = [new Date(rows.mainDate ?? 0), atOnce(columnsOf(rows))];
  const version = { version: 1, mainDate, present: rows.present, columns, parametersVersion };
  return { ...version, type: TYPE, method: 'POST', indexDigests: atOnce(indexDigestsOf(version)) };
}

function metaOf(updatedAt: Date): string {
  const instant = updatedAt.toISOString();
  return `{"versionId":"1","lastUpdated":"${instant}","extension":[{"url":"urn:svc:created-at","valueInstant":"${instant}"}]}`;
}

/** What it takes to write a transaction under new ids. */
export type PlannedTransaction = (newOf: () => NewObservation) => { rows: NewRow[] } & BoundStatement;

function plannedTransaction(bodies: readonly string[], parametersVersion: number): PlannedTransaction {
  const planned = bodies.map((body) => plannedRow(body, parametersVersion));
  return (newOf) => {
    const rows = planned.map((rowOf) => rowOf(newOf()));
    return { rows, ...atOnce(insertResources(rows)) };
  };
}

function plannedRow(body: string, parametersVersion: number): (row: NewObservation) => NewRow {
  const rows = atOnce(new Extractors(parameters, '').extractorFor(TYPE)(JSON.parse(body) as Resource));
  const known = versionOf(rows, parametersVersion);
  const members = body.slice(`{"resourceType":"${TYPE}"`.length);
  return ({ id, key, updatedAt }) => {
    const text = `{"resourceType":"${TYPE}","id":"${id}","meta":${metaOf(updatedAt)}${members}`;
    return { ...known, id, key, updatedAt, text, referenceHash: targetHashOf(localKey(TYPE, id)) };
  };
}
