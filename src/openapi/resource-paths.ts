import { conditionalDelete, conditionalPatch, conditionalUpdate, patch } from './conditional-items';
import {
  answer,
  headerParameter,
  jsonBody,
  type OperationItem,
  type Paths,
  pathParameter,
  queryParameter,
  refusal,
  REFUSALS,
} from './path-item';

const TYPE = pathParameter('type', 'Patient');
const ID = pathParameter('id', 'p7');
const TAGS = ['Resources'];

const PATIENT = {
  resourceType: 'Patient',
  id: 'p7',
  name: [{ family: 'Rivera', given: ['Ana'] }],
  gender: 'female',
  birthDate: '1986-03-14',
};

/** The routes that answer for every resource type: on `/fhir/…` and, alike, without `/fhir`. */
export function resourcePaths(): Paths {
  return {
    '/fhir': { post: bundle },
    '/fhir/{type}': {
      get: search,
      post: create,
      put: conditionalUpdate,
      patch: conditionalPatch,
      delete: conditionalDelete,
    },
    '/fhir/{type}/_search': { post: searchByForm },
    '/fhir/{type}/{id}': { get: read, put: update, patch, delete: remove },
    '/fhir/{type}/{id}/_history': { get: history },
    '/fhir/{type}/{id}/_history/{version}': { get: vread },
  };
}

const bundle: OperationItem = {
  tags: TAGS,
  summary: 'Processes a batch or transaction',
  description:
    'A transaction is stored as a whole or not at all; links to the fullUrls of its entries are rewritten. The entries of a batch succeed or fail each by itself. Answered without bodies unless `Prefer: return=representation` asks for them.',
  requestBody: jsonBody({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: 'urn:uuid:5a1d0d1e-6f0c-4a52-9c3f-0b9b3f0f8f11',
        resource: { ...PATIENT, id: undefined },
        request: { method: 'POST', url: 'Patient' },
      },
      {
        resource: {
          resourceType: 'Flag',
          id: 'f1',
          status: 'active',
          code: { text: 'Falls' },
          subject: { reference: 'urn:uuid:5a1d0d1e-6f0c-4a52-9c3f-0b9b3f0f8f11' },
        },
        request: { method: 'PUT', url: 'Flag/f1' },
      },
    ],
  }),
  responses: {
    '200': answer('Bundle of type transaction-response or batch-response, an entry for each in their order'),
    '400': refusal('The Bundle, or an entry of a transaction, is malformed'),
    '409': refusal('An id of a transaction is taken'),
    '412': refusal('A condition of a transaction does not hold'),
    '413': refusal('The Bundle is too large'),
    '422': refusal('The content of a transaction breaks a rule'),
    ...REFUSALS,
  },
};

const search: OperationItem = {
  tags: TAGS,
  summary: 'Searches resources of a type',
  description:
    'Any token, uri or reference parameter of the type (see /metadata), besides `_id` and `_lastUpdated`. An unknown parameter is refused.',
  parameters: [
    TYPE,
    queryParameter('_id', 'Ids, separated by commas'),
    queryParameter('_lastUpdated', 'With a prefix, such as gt2026-01-31'),
    queryParameter('_count', 'Resources of a page, at most 1,000', '20'),
    queryParameter('_total', 'accurate, estimate or none'),
  ],
  responses: {
    '200': answer('Bundle of type searchset, with a next link while there is more'),
    '400': refusal('A parameter is unknown or malformed'),
    ...REFUSALS,
  },
};

const searchByForm: OperationItem = {
  tags: TAGS,
  summary: 'Searches with the parameters in a form, out of the URL',
  parameters: [TYPE],
  requestBody: {
    content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' }, example: { _count: '20' } } },
  },
  responses: { '200': answer('Bundle of type searchset'), ...REFUSALS },
};

const create: OperationItem = {
  tags: TAGS,
  summary: 'Stores a new resource',
  description:
    'Under the id of the body, or a new UUID. With If-None-Exist, or criteria in the URL, only when nothing matches.',
  parameters: [TYPE, headerParameter('If-None-Exist', 'identifier=http://clinic.example/mrn|1')],
  requestBody: jsonBody({ ...PATIENT, id: undefined }),
  responses: {
    '201': answer('The stored resource; Location, ETag and Last-Modified tell its version'),
    '200': answer('The one resource that matches already'),
    '400': refusal('The body is no acceptable JSON'),
    '412': refusal('Several resources match'),
    '409': refusal('The id is taken'),
    ...REFUSALS,
  },
};

const read: OperationItem = {
  tags: TAGS,
  summary: 'Reads a resource',
  parameters: [TYPE, ID],
  responses: { '200': answer('The resource'), '404': refusal('Not found'), '410': refusal('Deleted'), ...REFUSALS },
};

const update: OperationItem = {
  tags: TAGS,
  summary: 'Replaces a resource, or creates it under this id',
  description:
    'Content that is the same makes no new version. With If-Match only that version is replaced; with If-None-Match: * it is only created.',
  parameters: [TYPE, ID, headerParameter('If-Match', 'W/"2"'), headerParameter('If-None-Match', '*')],
  requestBody: jsonBody(PATIENT),
  responses: {
    '200': answer('Replaced, or unchanged'),
    '201': answer('Created'),
    '412': refusal('If-Match names another version, or If-None-Match this one'),
    '422': refusal('The content breaks a rule'),
    ...REFUSALS,
  },
};

const remove: OperationItem = {
  tags: TAGS,
  summary: 'Deletes a resource; its history stays',
  parameters: [TYPE, ID, queryParameter('_no-content', 'true asks for 204')],
  responses: {
    '200': answer('The deleted resource'),
    '204': { description: 'There was nothing to delete' },
    ...REFUSALS,
  },
};

const history: OperationItem = {
  tags: TAGS,
  summary: 'Lists the versions of a resource, newest first',
  parameters: [TYPE, ID, queryParameter('_count', 'Versions of a page')],
  responses: {
    '200': answer('Bundle of type history'),
    '404': refusal('There never was such a resource'),
    ...REFUSALS,
  },
};

const vread: OperationItem = {
  tags: TAGS,
  summary: 'Reads one version',
  parameters: [TYPE, ID, pathParameter('version', '1')],
  responses: {
    '200': answer('The version'),
    '404': refusal('No such version'),
    '410': refusal('The version is a deletion'),
    ...REFUSALS,
  },
};
