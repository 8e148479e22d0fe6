import { patientCompartment } from '../../src/fhir/definitions';
import { localKey } from '../../src/fhir/reference';
import { type Resource } from '../../src/fhir/types';
import { compilePage, compileTotal } from '../../src/resource/search/compile-search';
import { type CompiledSearch } from '../../src/resource/search/compile/binder';
import { Extractors } from '../../src/resource/search/extract/extractor';
import { targetHashOf } from '../../src/resource/search/extract/hash';
import { SearchParameterSet } from '../../src/resource/search/extract/search-parameter-set';
import { parseSearch } from '../../src/resource/search/parse-search';
import { countOf } from '../../src/resource/search/result-parameters';
import { insertResources } from '../../src/resource/store/insert-many';
import { type BoundStatement, type NewRow, insertResource } from '../../src/resource/store/write-statements';
import { CHARTS, NEW_BUNDLES, NEW_OBSERVATIONS, bundleTextOf, searchQueryOf } from './bench-data';

// What the floor need not find out while it is measured. The SQL is the server's own, so that both give the database the
// same work; of each request only its values are filled in.

const TYPE = 'Observation';
const parameters = new SearchParameterSet();

/** A search that is known beforehand. */
export interface PlannedSearch {
  readonly count: number;
  readonly page: CompiledSearch;
  readonly total: CompiledSearch;
}

/** The searches of the bench by their query. */
export const SEARCHES: ReadonlyMap<string, PlannedSearch> = new Map(
  CHARTS.map(({ patientId }) => [searchQueryOf(patientId), plannedSearch(searchQueryOf(patientId))]),
);

function plannedSearch(text: string): PlannedSearch {
  const query = new URLSearchParams(text);
  const { clauses } = parseSearch(query, { type: TYPE, parameters, baseUrl: '', isLenient: false });
  const count = countOf(query);
  const search = { type: TYPE, clauses, count };
  return { count, page: compilePage(search), total: compileTotal(search) };
}

/** The links of the Patient compartment, as rows of the reference table name them. */
export const COMPARTMENT_PARAMETERS: readonly number[] = [
  ...new Set(
    patientCompartment().resource.flatMap(({ code: type, param = [] }) =>
      param.flatMap((code) => parameters.find(type, code)?.storedAs ?? []),
    ),
  ),
];

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

/** The creates of the bench by their body. */
export const INSERTS: ReadonlyMap<string, PlannedInsert> = new Map(
  NEW_OBSERVATIONS.map((body) => [body, plannedInsert(body)]),
);

function plannedInsert(body: string): PlannedInsert {
  const rows = new Extractors(parameters, '').extractorFor(TYPE)(JSON.parse(body) as Resource);
  const mainDate = new Date(rows.mainDate ?? 0);
  const { statement, values } = insertResource({
    ...BLANK,
    parametersVersion: 1,
    type: TYPE,
    version: 1,
    method: 'POST',
    mainDate,
    rows,
  });
  const [key, id, hash, updated, text] = [BLANK.key, BLANK.id, BLANK.referenceHash, BLANK.updatedAt, BLANK.text].map(
    (blank) => values.indexOf(blank),
  ) as [number, number, number, number, number];
  const members = body.slice(`{"resourceType":"${TYPE}"`.length);
  return {
    of: (row) => {
      const meta = `{"versionId":"1","lastUpdated":"${row.updatedAt.toISOString()}"}`;
      const stored = `{"resourceType":"${TYPE}","id":"${row.id}","meta":${meta}${members}`;
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

/** The transactions of the bench by their body: what it takes to write them under new ids. */
export const BUNDLE_INSERTS: ReadonlyMap<string, (newOf: () => NewObservation) => { rows: NewRow[] } & BoundStatement> =
  new Map(
    NEW_BUNDLES.map((bodies) => {
      const planned = bodies.map(plannedRow);
      return [
        bundleTextOf(bodies),
        (newOf) => {
          const rows = planned.map((rowOf) => rowOf(newOf()));
          return { rows, ...insertResources(rows) };
        },
      ];
    }),
  );

function plannedRow(body: string): (row: NewObservation) => NewRow {
  const rows = new Extractors(parameters, '').extractorFor(TYPE)(JSON.parse(body) as Resource);
  const known = {
    type: TYPE,
    version: 1,
    method: 'POST',
    mainDate: new Date(rows.mainDate ?? 0),
    rows,
    parametersVersion: 1,
  } as const;
  const members = body.slice(`{"resourceType":"${TYPE}"`.length);
  return ({ id, key, updatedAt }) => {
    const meta = `{"versionId":"1","lastUpdated":"${updatedAt.toISOString()}"}`;
    const text = `{"resourceType":"${TYPE}","id":"${id}","meta":${meta}${members}`;
    return { ...known, id, key, updatedAt, text, referenceHash: targetHashOf(localKey(TYPE, id)) };
  };
}
