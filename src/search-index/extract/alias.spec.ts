import { describe, expect, it } from '@jest/globals';
import { type Candidate, findAliases } from './alias';
import { compilePaths, parseExpression } from '../../fhirpath/fhirpath';

function candidates(expressions: Record<string, string>, kind = 'reference'): Candidate[] {
  return Object.entries(expressions).map(([code, expression]) => ({
    code,
    kind,
    branches: compilePaths(parseExpression(expression), 'Observation'),
  }));
}

const subject = 'Observation.subject';
const performer = 'Observation.performer';
const patients = `${subject}.where(resolve() is Patient) | ${performer}.where(resolve() is Patient)`;

describe(findAliases.name, () => {
  it('finds equal parameters, unions and narrowings, in any order of declaration', () => {
    const standard = candidates({
      patients,
      all: `${performer} | ${subject}`,
      either: `${subject} | ${performer}`,
      subject,
      performer,
    });
    const expected = {
      all: { codes: ['performer', 'subject'] },
      either: { codes: ['subject', 'performer'] },
      patients: { codes: ['subject', 'performer'], narrowedTo: 'Patient' },
    };
    expect(Object.fromEntries(findAliases(standard, []))).toEqual(expected);
    expect(Object.fromEntries(findAliases([...standard].reverse(), []))).toEqual(expected);
  });

  it('stores the rows of equal parameters under the first one', () => {
    expect(Object.fromEntries(findAliases(candidates({ a: subject, b: subject, c: subject }), []))).toEqual({
      b: { codes: ['a'] },
      c: { codes: ['a'] },
    });
  });

  it('finds no alias that covers only part of a parameter, or more than it', () => {
    const standard = candidates({
      both: `${subject} | ${performer}`,
      subject,
      mixed: `${subject} | ${performer}.where(resolve() is Patient)`,
    });
    expect([...findAliases(standard, [])]).toEqual([]);
  });

  it('never combines parameters of different types', () => {
    expect([...findAliases([...candidates({ a: subject }), ...candidates({ b: subject }, 'token')], [])]).toEqual([]);
  });

  it("lets parameters of modules use the rows of HL7's parameters, and never the reverse", () => {
    const own = candidates({ mine: subject, first: performer, second: performer });
    expect(Object.fromEntries(findAliases(candidates({ subject }), own))).toEqual({ mine: { codes: ['subject'] } });
  });
});
