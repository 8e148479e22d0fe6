import { type FirstSecrets, LIVE_TYPE, loginOf } from '../prepare-server';
import { type HttpCall } from '../../http-client';
import { jsonBody } from '../../json-body';

export interface CoveredRequest {
  readonly name: string;
  /** @param n differs for each call: a write of the same content would store nothing */
  readonly callOf: (n: number) => HttpCall;
  /** Events that the webhook receiver gets. */
  readonly events?: number;
}

const SUBJECT = { reference: 'Patient/p1' };

const observation = (n: number): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
  subject: SUBJECT,
  effectiveDateTime: '2026-01-01',
  valueQuantity: { value: n, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
});

const flag = (n: number): object => ({
  resourceType: LIVE_TYPE,
  status: 'active',
  code: { text: `flag ${n}` },
  subject: SUBJECT,
});

const addToHistory = (n: number): object => ({
  method: 'svc.sdc.addendum/add-to-history',
  params: {
    resource: {
      resourceType: 'SDCDocument',
      id: 'd1',
      status: 'completed',
      patient: { resourceType: 'Patient', id: 'p1' },
      title: `version ${n}`,
    },
    user: { resourceType: 'User', id: 'admin' },
  },
});

/** Resources stored before the first request. */
export const STORED: readonly HttpCall[] = [
  { method: 'PUT', path: '/fhir/Patient/p1', body: jsonBody({ resourceType: 'Patient', name: [{ family: 'One' }] }) },
];

/** One request of each kind, by a User whose policy grants everything. */
export const coveredRequests = (secrets: FirstSecrets): readonly CoveredRequest[] => [
  { name: 'read', callOf: () => ({ method: 'GET', path: '/fhir/Patient/p1' }) },
  { name: 'search ?subject=', callOf: () => ({ method: 'GET', path: '/fhir/Observation?subject=Patient/p1' }) },
  { name: 'create', callOf: (n) => ({ method: 'POST', path: '/fhir/Observation', body: jsonBody(observation(n)) }) },
  { name: 'update', callOf: (n) => ({ method: 'PUT', path: '/fhir/Observation/o1', body: jsonBody(observation(n)) }) },
  {
    name: 'update with event',
    callOf: (n) => ({ method: 'PUT', path: `/fhir/${LIVE_TYPE}/f1`, body: jsonBody(flag(n)) }),
    events: 1,
  },
  { name: 'RPC add-to-history', callOf: (n) => ({ method: 'POST', path: '/rpc', body: jsonBody(addToHistory(n)) }) },
  { name: 'token', callOf: () => ({ method: 'POST', path: '/auth/token', body: { form: loginOf(secrets) } }) },
];
