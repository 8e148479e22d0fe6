import { describe, expect, it } from '@jest/globals';
import { searchParameterDefinitions } from '../../fhir/definitions/definitions';
import { searchParameterResource } from '../../fhir/definitions/search-parameter-resources';
import { SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { readDefinition } from './read-definition';

const builtIn = new SearchParameterSet();
const composites = searchParameterDefinitions().filter(({ component = [] }) => component.length === 2);
/**
 * Composites that are not indexed, with the reason. R4 swaps the two expressions of the first composite. The other
 * composites select only some values of the component's parameter.
 */
const REFUSED: Readonly<Record<string, string>> = {
  'DocumentReference-relationship': 'component[0].expression leads to nothing of DocumentReference',
  'Observation-code-value-date': 'component[1].expression must lead to all values of Observation.value-date',
  'Observation-code-value-string': 'component[1].expression must lead to all values of Observation.value-string',
};
const OWN = { id: 'mine', url: 'http://ward.example/SearchParameter/mine', status: 'active' };

describe(readDefinition, () => {
  it.each(composites.map((definition) => [definition.id, definition] as const))(
    'reads a copy of %s under another code, or refuses it with a reason',
    (id, definition) => {
      const copy = { ...searchParameterResource(definition), ...OWN, code: 'mine' };
      const refusal = REFUSED[id];
      if (refusal === undefined) expect(readDefinition(copy, builtIn).map(({ type }) => type)).toEqual(definition.base);
      else expect(() => readDefinition(copy, builtIn)).toThrow(`SearchParameter.${refusal}`);
    },
  );

  it.each([
    ['_id', 'token', 'Encounter', 'Resource.id', 'Resource-id'],
    ['_lastUpdated', 'date', 'Encounter', 'Resource.meta.lastUpdated', 'Resource-lastUpdated'],
    ['date', 'date', 'Procedure', 'Procedure.performed', 'clinical-date'],
    ['date', 'date', 'Immunization', 'Immunization.occurrence', undefined],
    ['name', 'string', 'Organization', 'Organization.name', 'Organization-name|4.0.1'],
  ])(
    'C4.8: adds nothing for a definition of %s that equals the built-in one',
    (code, type, base, expression, original) => {
      const derivedFrom =
        original === undefined ? {} : { derivedFrom: `http://hl7.org/fhir/SearchParameter/${original}` };
      const value = { resourceType: 'SearchParameter', ...OWN, ...derivedFrom, code, type, base: [base], expression };
      expect(readDefinition(value, builtIn)).toEqual([]);
    },
  );

  it.each([
    ['_id', 'token', 'Encounter', 'Encounter.status', 'Resource-id', 'is taken'],
    ['_lastUpdated', 'token', 'Encounter', 'Encounter.status', 'Resource-lastUpdated', 'is taken'],
    ['_mine', 'token', 'Encounter', 'Encounter.status', undefined, 'is reserved for FHIR'],
    ['name', 'string', 'Organization', 'Organization.name', undefined, 'is taken'],
    ['name', 'string', 'Organization', 'Organization.name', 'Patient-name-like', 'is taken'],
    ['name', 'string', 'Organization', 'Organization.contact.name.text', 'Organization-name', 'is taken'],
  ])('C4.8: refuses a definition of %s with another meaning', (code, type, base, expression, original, reason) => {
    const derivedFrom =
      original === undefined ? {} : { derivedFrom: `http://hl7.org/fhir/SearchParameter/${original}` };
    const value = { resourceType: 'SearchParameter', ...OWN, ...derivedFrom, code, type, base: [base], expression };
    expect(() => readDefinition(value, builtIn)).toThrow(reason);
  });

  it("adds nothing for copies of HL7's composites under their own code", () => {
    const found = composites.filter(({ id }) => id !== 'DocumentReference-relationship');
    for (const definition of found)
      expect(readDefinition({ ...searchParameterResource(definition), ...OWN }, builtIn)).toEqual([]);
  });

  it('refuses another composite under the code of a built-in one', () => {
    const definition = composites.find(({ id }) => id === 'Observation-code-value-quantity');
    if (definition === undefined) throw new Error('HL7 has it');
    const copy = { ...searchParameterResource(definition), ...OWN };
    expect(() => readDefinition({ ...copy, expression: 'Observation.where(id = 1)' }, builtIn)).toThrow(
      'SearchParameter.code is taken',
    );
  });
});
