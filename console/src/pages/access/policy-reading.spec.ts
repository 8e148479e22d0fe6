import { describe, expect, it } from '@jest/globals';
import { clauseAt, coveredBy, mayCoverClient, mayCoverUser, summaryOf } from './policy-reading';

const user = (id: string): { resourceType: string; id: string } => ({ resourceType: 'User', id });
const read = { resourceType: 'Operation', id: 'FhirRead' };

describe(coveredBy, () => {
  it('returns "everyone" for a policy without links and Roles', () => {
    expect(coveredBy({})).toEqual([{ kind: 'everyone', name: '' }]);
    expect(coveredBy({ roleName: 'clerk', link: [user('ana')] })).toEqual([
      { kind: 'Role', name: 'clerk' },
      { kind: 'User', name: 'ana' },
    ]);
  });
});

describe(mayCoverUser, () => {
  it('evaluates links and Roles as the server does', () => {
    expect(mayCoverUser({}, 'ana', [])).toBe(true);
    expect(mayCoverUser({ link: [user('ana')] }, 'ana', [])).toBe(true);
    expect(mayCoverUser({ link: [user('bea')] }, 'ana', [])).toBe(false);
    expect(mayCoverUser({ link: [read] }, 'ana', [])).toBe(true);
    expect(mayCoverUser({ roleName: 'clerk' }, 'ana', [])).toBe(false);
    expect(mayCoverUser({ roleName: 'clerk' }, 'ana', ['clerk'])).toBe(true);
    expect(mayCoverUser({ roleName: 'clerk', link: [user('bea')] }, 'ana', ['clerk'])).toBe(false);
  });

  it('ignores policies of Roles and Users for a Client', () => {
    expect(mayCoverClient({ link: [{ resourceType: 'Client', id: 'app' }] }, 'app')).toBe(true);
    expect(mayCoverClient({ roleName: 'clerk' }, 'app')).toBe(false);
    expect(mayCoverClient({ link: [user('app')] }, 'app')).toBe(false);
  });
});

describe(summaryOf, () => {
  it('prefers the description that the policy has', () => {
    expect(summaryOf({ engine: 'allow', description: 'For trying out' })).toBe('For trying out');
    expect(summaryOf({ engine: 'allow', criteria: 'Patient' })).toBe(
      'Allows everything, for resources that its criteria find',
    );
    expect(summaryOf({ engine: 'acme' })).toBe('Decided by the engine acme');
  });
});

describe(clauseAt, () => {
  const policy = {
    matcho: { params: { 'resource/type': { $enum: ['A', 'B'] }, 'a.b': 1 } },
    and: [{ matcho: { user: 'present?' } }],
  };

  it.each<[string, unknown]>([
    ['matcho.params.resource/type', { $enum: ['A', 'B'] }],
    ['matcho.params.a.b', 1],
    ['and[0].matcho.user', 'present?'],
    ['and.0.matcho.user', 'present?'],
    ['matcho.nothing', undefined],
    ['link', undefined],
    ['', policy],
  ])('returns for the path %j the clause %j', (path, clause) => {
    expect(clauseAt(policy, path)).toEqual(clause);
  });
});

describe('the summary of a pattern', () => {
  const of = (matcho: object, more: object = {}): string => summaryOf({ engine: 'matcho', matcho, ...more });

  it('names methods and types if the pattern has no other conditions', () => {
    expect(of({ 'request-method': 'get', params: { 'resource/type': 'Patient' } })).toBe('Allows GET of Patient');
    expect(
      of(
        { 'request-method': { $enum: ['get', 'head'] }, params: { 'resource/type': 'Patient' } },
        { criteria: 'Patient?_id=p1' },
      ),
    ).toBe('Allows GET or HEAD of Patient, for resources that its criteria find');
    expect(of({ params: { 'resource/type': { $enum: ['Patient', 'Observation'] } } })).toBe(
      'Allows all requests of Patient or Observation',
    );
  });

  it('names no details of any other pattern', () => {
    const whole = 'Allows requests that match a pattern';
    for (const matcho of [
      { uri: 'x', params: { 'resource/type': 'Patient' } },
      { params: { 'resource/type': 'Patient', 'resource/id': 'p1' } },
      { 'request-method': { $not: 'get' }, params: { 'resource/type': 'Patient' } },
      { 'request-method': 'get' },
    ])
      expect(of(matcho)).toBe(whole);
  });
});
