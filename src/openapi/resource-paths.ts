import examples from './examples.json';
import { conditionalDelete, conditionalPatch, conditionalUpdate, patch } from './conditional-items';
import {
  answer,
  headerParameter,
  jsonBody,
  mapOperations,
  type OperationItem,
  type Parameter,
  pathParameter,
  type Paths,
  queryParameter,
  refusedWith,
} from './path-item';

const TYPE = pathParameter('type', 'Patient');
const ID = pathParameter('id', 'p7');
const COUNT = queryParameter('_count', 'Resources of a page, at most 1,000', '20');
const LAST_UPDATED = queryParameter('_lastUpdated', 'With a prefix, such as gt2026-01-31');
const SEARCHSET = answer('Bundle of type searchset', 'Bundle');
const FIRST_PAGE = answer('Bundle of type searchset, with a next link while there is more', 'Bundle');

const formBody = (example: object): NonNullable<OperationItem['requestBody']> => ({
  content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' }, example } },
});

/** The routes that every resource type has. They are the same on `/fhir/…` and without `/fhir`. */
export function resourcePaths(): Paths {
  const paths: Paths = {
    '/fhir': { get: searchTypes, post: bundle },
    '/fhir/_search': { post: searchTypesByForm },
    '/fhir/{type}': {
      get: search,
      post: create,
      put: conditionalUpdate,
      patch: conditionalPatch,
      delete: conditionalDelete,
    },
    '/fhir/{type}/_search': { post: searchByForm },
    '/fhir/{type}/{id}': { put: update, get: read, patch, delete: remove },
    '/fhir/{compartment}/{id}/{type}': { get: compartmentSearch },
    '/fhir/{type}/{id}/_history': { get: { operationId: 'historyInstance', ...historyOf('of a resource', TYPE, ID) } },
    '/fhir/{type}/{id}/_history/{version}': { get: vread },
    '/fhir/{type}/_history': { get: { operationId: 'historyType', ...historyOf('of all resources of a type', TYPE) } },
    '/fhir/_history': { get: { operationId: 'historySystem', ...historyOf('of all resources') } },
  };
  return mapOperations(paths, (operation) => ({ tags: ['Resources'], ...operation }));
}

const bundle: OperationItem = {
  operationId: 'batch',
  summary: 'Processes a batch or transaction',
  description:
    'A transaction is stored as a whole or not at all; links to the fullUrls of its entries are rewritten. The entries of a batch succeed or fail each by itself. Answered without bodies unless `Prefer: return=representation` asks for them.',
  requestBody: jsonBody(examples.transaction, 'Bundle'),
  responses: {
    '200': answer('Bundle of type transaction-response or batch-response, an entry for each in their order', 'Bundle'),
    '400': refusedWith('The Bundle, or an entry of a transaction, is malformed'),
    '409': refusedWith('An id of a transaction is taken'),
    '412': refusedWith('A condition of a transaction does not hold'),
    '413': refusedWith('The Bundle is too large'),
    '422': refusedWith('The content of a transaction breaks a rule'),
  },
};

const search: OperationItem = {
  operationId: 'searchType',
  summary: 'Searches resources of a type',
  description:
    'Any parameter of the type (see /metadata) with its prefixes and modifiers, chains (`patient.name`), `_has` and `_filter`; dot expressions (`.name.0.family$contains=smi`). An unknown parameter is refused.',
  parameters: [
    TYPE,
    queryParameter('_id', 'Ids, separated by commas'),
    LAST_UPDATED,
    COUNT,
    queryParameter('_total', 'accurate, estimate or none'),
    queryParameter('_sort', 'Parameters, descending with -', '-_lastUpdated'),
    queryParameter('_include', 'Type:parameter whose targets come along'),
    queryParameter('_revinclude', 'Type:parameter whose sources come along'),
    queryParameter('_createdAt', 'Time of version 1, with a prefix'),
    queryParameter('_ilike', 'Words of the text; a space is AND, a comma OR'),
    queryParameter('_page', 'Page by number, from 1 to 10,000 resources deep; links then go by numbers too', '1'),
    queryParameter('_result', 'array: the bare resources, with links in the header Link'),
    queryParameter('_timeout', 'Seconds that page, total and includes may take together', '60'),
    queryParameter(
      '_explain',
      '1: with the statement and its plan; or a list of plan, analyze, buffers, costs, timing, format-json',
    ),
  ],
  responses: {
    '200': FIRST_PAGE,
    '400': refusedWith('A parameter is unknown or malformed'),
    '504': refusedWith('It took longer than _timeout'),
  },
};

const compartmentSearch: OperationItem = {
  operationId: 'searchCompartment',
  summary: 'Searches the resources of a type in the compartment of one resource',
  description: 'By the stored CompartmentDefinition; with the parameters of a search.',
  parameters: [pathParameter('compartment', 'Patient'), ID, pathParameter('type', 'Observation')],
  responses: { '200': SEARCHSET },
};

const searchByForm: OperationItem = {
  operationId: 'searchTypeByForm',
  summary: 'Searches with the parameters in a form, out of the URL',
  parameters: [TYPE],
  requestBody: formBody({ _count: '20' }),
  responses: { '200': SEARCHSET },
};

const searchTypes: OperationItem = {
  operationId: 'searchSystem',
  summary: 'Searches resources of several types, or of all',
  description: 'By parameters that all of the types have, in the order of their last update.',
  parameters: [
    queryParameter('_type', 'Types, separated by commas; absent: all', 'Patient,Observation'),
    LAST_UPDATED,
    queryParameter('_tag', 'A tag, as system|code'),
    COUNT,
    queryParameter('_sort', '-_lastUpdated or _lastUpdated'),
  ],
  responses: {
    '200': FIRST_PAGE,
    '400': refusedWith('No parameter at all, or one that not all of the types have'),
  },
};

const searchTypesByForm: OperationItem = {
  operationId: 'searchSystemByForm',
  summary: 'Searches several types with the parameters in a form',
  requestBody: formBody({ _type: 'Patient', _count: '20' }),
  responses: { '200': SEARCHSET },
};

const create: OperationItem = {
  operationId: 'create',
  summary: 'Stores a new resource',
  description:
    'Under the id of the body, or a new UUID. With If-None-Exist, or criteria in the URL, only when nothing matches.',
  parameters: [TYPE, headerParameter('If-None-Exist', 'identifier=http://clinic.example/mrn|1')],
  requestBody: jsonBody(examples.newPatient),
  responses: {
    '201': answer('The stored resource; Location, ETag and Last-Modified identify its version'),
    '200': answer('The one resource that matches already'),
    '400': refusedWith('The body is no acceptable JSON'),
    '412': refusedWith('Several resources match'),
    '409': refusedWith('The id is taken'),
  },
};

const read: OperationItem = {
  operationId: 'read',
  summary: 'Reads a resource',
  parameters: [TYPE, ID],
  responses: { '200': answer('The resource'), '404': refusedWith('Not found'), '410': refusedWith('Deleted') },
};

const update: OperationItem = {
  operationId: 'update',
  summary: 'Replaces a resource, or creates it under this id',
  description:
    'Content that is the same makes no new version. With If-Match only that version is replaced; with If-None-Match: * it is only created.',
  parameters: [
    TYPE,
    ID,
    headerParameter('If-Match', 'W/"2": only this version is replaced'),
    headerParameter('If-None-Match', '*: it is only created'),
  ],
  requestBody: jsonBody(examples.patient),
  responses: {
    '200': answer('Replaced, or unchanged'),
    '201': answer('Created'),
    '412': refusedWith('If-Match names another version, or If-None-Match this one'),
    '422': refusedWith('The content breaks a rule'),
  },
};

const remove: OperationItem = {
  operationId: 'delete',
  summary: 'Deletes a resource; its history stays',
  parameters: [
    TYPE,
    ID,
    headerParameter('If-Match', 'W/"2": only this version is deleted'),
    queryParameter('_no-content', 'true asks for 204'),
  ],
  responses: {
    '200': answer('The deleted resource'),
    '204': { description: 'There was nothing to delete' },
    '412': refusedWith('If-Match names another version'),
  },
};

const vread: OperationItem = {
  operationId: 'vread',
  summary: 'Reads one version',
  parameters: [TYPE, ID, pathParameter('version', '1')],
  responses: {
    '200': answer('The version'),
    '404': refusedWith('No such version'),
    '410': refusedWith('The version is a deletion'),
  },
};

function historyOf(whose: string, ...of: Parameter[]): OperationItem {
  return {
    summary: `Lists the versions ${whose}, newest first`,
    description:
      'Deletions are entries without a resource. The links go by the place of a version, so they stay right while others write.',
    parameters: [
      ...of,
      queryParameter('_since', 'Versions from this time on, such as 2026-01-31T10:00:00Z'),
      queryParameter('_at', 'Versions that were current at this time, or at some point of this day, month or year'),
      queryParameter('_count', 'Versions of a page, at most 1,000; 0 asks for the total alone', '20'),
      queryParameter('_total', 'accurate, or none where counting takes too long'),
    ],
    responses: {
      '200': answer('Bundle of type history, with next and previous links', 'Bundle'),
      '400': refusedWith('A parameter is unknown or malformed'),
      ...(of.length === 0 ? {} : { '404': refusedWith('There is no such type, or never was such a resource') }),
    },
  };
}
