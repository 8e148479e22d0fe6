import { describe, expect, it } from '@jest/globals';
import { completeName, completeValue, kindOf, valueHint } from './complete';
import { vocabularyOf } from './vocabulary';

const parameter = (name: string, type: string): { name: string; type: string } => ({ name, type });

const words = vocabularyOf({
  rest: [
    {
      searchParam: [parameter('_id', 'token'), parameter('_text', 'string')],
      resource: [
        {
          type: 'Observation',
          searchParam: [
            parameter('code', 'token'),
            parameter('combo-code', 'token'),
            parameter('date', 'date'),
            parameter('patient', 'reference'),
            parameter('subject', 'reference'),
            parameter('code-value-quantity', 'composite'),
          ],
          searchInclude: ['Observation:patient', 'Observation:subject'],
          searchRevInclude: [],
        },
        {
          type: 'Patient',
          searchParam: [parameter('name', 'string'), parameter('organization', 'reference')],
          searchInclude: ['Patient:organization'],
          searchRevInclude: ['Observation:patient', 'Observation:subject'],
        },
        { type: 'Device', searchParam: [], searchRevInclude: ['Observation:subject'] },
        {
          type: 'Organization',
          searchParam: [parameter('name', 'string')],
          searchRevInclude: ['Patient:organization'],
        },
      ],
    },
  ],
});

const textsOf = (found: readonly { readonly text: string }[]): string[] => found.map(({ text }) => text);

describe(completeName, () => {
  it('offers names that start with the typed text first, then names that contain it', () => {
    expect(textsOf(completeName(words, 'Observation', 'cod'))).toEqual(['code', 'code-value-quantity', 'combo-code']);
  });

  it('offers the parameters of all types and those of the result', () => {
    expect(textsOf(completeName(words, 'Patient', '_t'))).toEqual(['_text', '_total', '_timeout']);
    expect(textsOf(completeName(words, 'Patient', '_h'))).toEqual(['_has:']);
  });

  it('offers the modifiers of the parameter type', () => {
    expect(textsOf(completeName(words, 'Observation', 'code:'))).toEqual(
      ['not', 'text', 'in', 'not-in', 'of-type', 'i', 'missing'].map((modifier) => `code:${modifier}`),
    );
    expect(textsOf(completeName(words, 'Observation', 'date:m'))).toEqual(['date:missing']);
    expect(completeName(words, 'Observation', 'code-value-quantity:')).toEqual([]);
  });

  it('offers chains to each target type of a reference', () => {
    expect(textsOf(completeName(words, 'Observation', 'subject:'))).toEqual(
      expect.arrayContaining(['subject:Patient.', 'subject:Device.', 'subject:missing']),
    );
    expect(textsOf(completeName(words, 'Observation', 'subject:Patient.na'))).toEqual(['subject:Patient.name']);
  });

  it('completes chains of several references, without the type name if there is one target type', () => {
    expect(textsOf(completeName(words, 'Observation', 'patient.organization.n'))).toEqual([
      'patient.organization.name',
    ]);
  });

  it('completes _has with the referring types and their parameters', () => {
    expect(textsOf(completeName(words, 'Patient', '_has:Obs'))).toEqual([
      '_has:Observation:patient:',
      '_has:Observation:subject:',
    ]);
    expect(textsOf(completeName(words, 'Patient', '_has:Observation:patient:da'))).toContain(
      '_has:Observation:patient:date',
    );
  });

  it.each(['subject.name', 'nothing.x', 'code.x', 'subject:Nothing.x', '_has:Nothing:x:y'])(
    'offers nothing for %s',
    (typed) => {
      expect(completeName(words, 'Observation', typed)).toEqual([]);
    },
  );

  it('offers nothing for an unknown resource type', () => {
    expect(completeName(words, 'Nothing', 'c')).toEqual([]);
  });
});

describe(completeValue, () => {
  it('completes the last of several sort parameters', () => {
    expect(textsOf(completeValue(words, 'Observation', '_sort', 'code,-da'))).toEqual(['code,-date']);
  });

  it('offers includes, reverse includes and totals', () => {
    expect(textsOf(completeValue(words, 'Observation', '_include', 'observation:s'))).toEqual(['Observation:subject']);
    expect(textsOf(completeValue(words, 'Patient', '_revinclude:iterate', ''))).toHaveLength(2);
    expect(textsOf(completeValue(words, 'Patient', '_total', 'n'))).toEqual(['none']);
    expect(completeValue(words, 'Patient', 'name', 'n')).toEqual([]);
  });
});

describe(valueHint, () => {
  it('describes the format of a value, also at the end of a chain', () => {
    expect(valueHint(words, 'Observation', 'patient.name')).toMatch(/beginning/);
    expect(valueHint(words, 'Observation', 'code:missing')).toMatch(/true or false/);
    expect(valueHint(words, 'Observation', '_sort')).toBe('Order.');
    expect(valueHint(words, 'Observation', 'nothing')).toBeUndefined();
    expect(kindOf(words, 'Patient', '_has:Observation:patient:date')).toBe('date');
  });
});

describe(vocabularyOf, () => {
  it('treats a reference with very many target types as a reference to any type', () => {
    const many = vocabularyOf({
      rest: [
        {
          resource: Array.from({ length: 60 }, (_none, index) => ({ type: `T${index}`, searchRevInclude: ['X:any'] })),
        },
      ],
    });
    expect(many.targetsOf('X', 'any')).toBeUndefined();
    expect(words.targetsOf('Observation', 'subject')).toEqual(['Patient', 'Device']);
  });
});
