import { describe, expect, it } from '@jest/globals';
import { readJson } from '../platform/json/read-json';
import { ResourceDraft } from './resource-draft';
import { type StoredResource } from './stored-resource';
import { viewOf } from './view-of';

interface Patient {
  readonly resourceType: 'Patient';
  readonly birthDate?: string;
}

const STORED: StoredResource = {
  ...{ type: 'Patient', id: 'p7', version: 1, updatedAt: new Date(0), method: 'PUT' },
  text: '{"resourceType":"Patient","id":"p7","birthDate":"1980-02-03"}',
};

describe(viewOf.name, () => {
  it('parses a stored resource, a draft, and a version of a change', () => {
    const draft = ResourceDraft.of(readJson('{"birthDate":"1980-02-03"}'), 'Patient', 'p7');
    const change = { text: STORED.text, value: draft.value };
    for (const resource of [STORED, draft, change])
      expect(viewOf<Patient>(resource, 'Patient').birthDate).toBe('1980-02-03');
  });

  it('refuses a resource of another type', () => {
    expect(() => viewOf<{ resourceType: 'Observation' }>(STORED, 'Observation')).toThrow(
      'type Patient, not Observation',
    );
  });
});
