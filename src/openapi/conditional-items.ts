import examples from './examples.json';
import {
  answer,
  headerParameter,
  jsonBody,
  type OperationItem,
  pathParameter,
  queryParameter,
  refusedWith,
} from './path-item';

const TYPE = pathParameter('type', 'Patient');
const CRITERIA = 'Search parameters in the URL are the criteria.';
const IDENTIFIER = queryParameter(
  'identifier',
  'A criterion; any search parameter is one',
  'http://clinic.example/mrn|1',
);
const SEVERAL = refusedWith('Several resources match, or another version than If-Match names');

const PATCH_BODY: NonNullable<OperationItem['requestBody']> = {
  required: true,
  content: {
    'application/merge-patch+json': { schema: { type: 'object' }, example: { active: true, birthDate: null } },
    'application/json-patch+json': {
      schema: { type: 'array', items: { type: 'object' } },
      example: [{ op: 'replace', path: '/active', value: true }],
    },
    'application/fhir+json': {
      schema: { type: 'object' },
      example: examples.fhirPathPatch,
    },
  },
};

const patchItem: OperationItem = {
  requestBody: PATCH_BODY,
  responses: {
    '200': answer('The patched resource, or the stored one when nothing changed'),
    '400': refusedWith('The patch is malformed'),
    '404': refusedWith('Nothing is stored'),
    '412': SEVERAL,
    '415': refusedWith('No media type of a patch; Accept-Patch names them'),
    '422': refusedWith('The patch does not fit the resource, or its result breaks a rule'),
  },
};

export const patch: OperationItem = {
  operationId: 'patch',
  ...patchItem,
  summary: 'Changes a resource by a JSON Patch, a merge patch or a FHIRPath patch',
  description: 'Applied to the stored version while it is held; numbers keep their digits.',
  parameters: [TYPE, pathParameter('id', 'p7'), headerParameter('If-Match', 'W/"2"')],
};

export const conditionalPatch: OperationItem = {
  operationId: 'patchByCriteria',
  ...patchItem,
  summary: 'Changes the one resource that matches',
  description: CRITERIA,
  parameters: [TYPE, IDENTIFIER],
};

export const conditionalUpdate: OperationItem = {
  operationId: 'updateByCriteria',
  summary: 'Replaces the one resource that matches, or creates it',
  description: CRITERIA,
  parameters: [TYPE, IDENTIFIER],
  requestBody: jsonBody(examples.conditionalPatient),
  responses: {
    '200': answer('Replaced, or unchanged'),
    '201': answer('Created'),
    '400': refusedWith('No criteria, or the id in the body is not that of the match'),
    '409': refusedWith('Nothing matches, and the id in the body is taken'),
    '412': SEVERAL,
  },
};

export const conditionalDelete: OperationItem = {
  operationId: 'deleteByCriteria',
  summary: 'Deletes the one resource that matches',
  description: `${CRITERIA} With x-conditional-delete: remove-all it deletes up to 1,000 at once.`,
  parameters: [TYPE, IDENTIFIER, headerParameter('x-conditional-delete', 'remove-all')],
  responses: {
    '200': answer('The deleted resource; for several, an OperationOutcome with their number'),
    '204': { description: 'There was nothing to delete' },
    '400': refusedWith('No criteria'),
    '412': SEVERAL,
  },
};
