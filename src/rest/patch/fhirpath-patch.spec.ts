import { describe, expect, it } from '@jest/globals';
import { parseLossless, printLossless } from '../../../test/support/lossless-text';
import { ServiceError } from '../../platform/errors/service-error';
import { atOnce } from '../../platform/time/steps';
import { compileFhirPathPatch } from './fhirpath-patch';

/** An operation of a patch. `value` is the text of a member such as `"valueString":"x"`, or of parts. */
interface Step {
  readonly type: string;
  readonly path: string;
  readonly name?: string;
  readonly value?: string;
  readonly index?: number;
  readonly source?: number;
  readonly destination?: number;
}

const operation = ({ type, path, name, value, index, source, destination }: Step): string => {
  const parts = [
    `{"name":"type","valueCode":"${type}"}`,
    `{"name":"path","valueString":${JSON.stringify(path)}}`,
    ...(name === undefined ? [] : [`{"name":"name","valueString":"${name}"}`]),
    ...(value === undefined ? [] : [`{"name":"value",${value}}`]),
    ...Object.entries({ index, source, destination }).flatMap(([part, number]) =>
      number === undefined ? [] : [`{"name":"${part}","valueInteger":${number}}`],
    ),
  ];
  return `{"name":"operation","part":[${parts.join(',')}]}`;
};

const parameters = (...operations: string[]): string =>
  `{"resourceType":"Parameters","parameter":[${operations.join(',')}]}`;

/** The kind of the error, or the patched content after the resource type. */
function outcome(type: string, content: string, patch: string): string {
  try {
    const tree = parseLossless(`{"resourceType":"${type}"${content === '' ? '' : ','}${content}}`);
    const text = printLossless(atOnce(atOnce(compileFhirPathPatch(parseLossless(patch)))(tree)));
    return text.slice(`{"resourceType":"${type}"`.length).replace(/^,/, '').slice(0, -1);
  } catch (error) {
    return error instanceof ServiceError ? error.kind : `unexpected: ${String(error)}`;
  }
}
const patched = (content: string, ...steps: Step[]): string =>
  outcome('Patient', content, parameters(...steps.map(operation)));

const IDENTIFIERS = [1, 2, 3, 4].map((n) => `{"value":"${n}"}`);
const identifiers = (...order: number[]): string => `"identifier":[${order.map((n) => `{"value":"${n}"}`).join(',')}]`;
const CONTACT = '"contact":[{"name":{"text":"a name"},"gender":"male"}]';

describe(compileFhirPathPatch.name, () => {
  // These cases are HL7's own for R4 (github.com/FHIR/fhir-test-cases, r4/patch), in JSON.
  it.each<[string, string, Step[], string]>([
    ['changes nothing without operations', '"birthDate":"1920-01-01"', [], '"birthDate":"1920-01-01"'],
    [
      'replaces a primitive',
      '"birthDate":"1920-01-01"',
      [{ type: 'replace', path: 'Patient.birthDate', value: '"valueDate":"1930-01-01"' }],
      '"birthDate":"1930-01-01"',
    ],
    ['deletes a primitive', '"birthDate":"1920-01-01"', [{ type: 'delete', path: 'Patient.birthDate' }], ''],
    [
      'adds a primitive',
      '',
      [{ type: 'add', path: 'Patient', name: 'birthDate', value: '"valueDate":"1930-01-01"' }],
      '"birthDate":"1930-01-01"',
    ],
    [
      'replaces nested primitives',
      CONTACT,
      [
        { type: 'replace', path: 'Patient.contact[0].gender', value: '"valueCode":"female"' },
        { type: 'replace', path: 'Patient.contact[0].name.text', value: '"valueString":"the name"' },
      ],
      '"contact":[{"name":{"text":"the name"},"gender":"female"}]',
    ],
    [
      'deletes an element and keeps its siblings',
      CONTACT,
      [{ type: 'delete', path: 'Patient.contact[0].name.text' }],
      '"contact":[{"gender":"male"}]',
    ],
    [
      'adds a complex element',
      '',
      [{ type: 'add', path: 'Patient', name: 'maritalStatus', value: '"valueCodeableConcept":{"text":"married"}' }],
      '"maritalStatus":{"text":"married"}',
    ],
    [
      'replaces a complex element as a whole',
      '"maritalStatus":{"id":"1","text":"married"}',
      [{ type: 'replace', path: 'Patient.maritalStatus', value: '"valueCodeableConcept":{"id":"2"}' }],
      '"maritalStatus":{"id":"2"}',
    ],
    [
      'adds a backbone element by its parts',
      '',
      [
        {
          type: 'add',
          path: 'Patient',
          name: 'contact',
          value: '"part":[{"name":"name","valueHumanName":{"text":"a name"}}]',
        },
      ],
      '"contact":[{"name":{"text":"a name"}}]',
    ],
    ['deletes the last element of a list', CONTACT, [{ type: 'delete', path: 'Patient.contact[0]' }], ''],
    [
      'inserts at the end of a list',
      identifiers(1, 2),
      [{ type: 'insert', path: 'Patient.identifier', index: 2, value: `"valueIdentifier":${IDENTIFIERS[2] ?? ''}` }],
      identifiers(1, 2, 3),
    ],
    [
      'inserts at the beginning of a list',
      identifiers(1, 2),
      [{ type: 'insert', path: 'Patient.identifier', index: 0, value: `"valueIdentifier":${IDENTIFIERS[2] ?? ''}` }],
      identifiers(3, 1, 2),
    ],
    [
      'deletes an element of a list',
      identifiers(1, 2, 3),
      [{ type: 'delete', path: 'Patient.identifier[1]' }],
      identifiers(1, 3),
    ],
    [
      'moves an element towards the end',
      identifiers(1, 2, 3, 4),
      [{ type: 'move', path: 'Patient.identifier', source: 0, destination: 3 }],
      identifiers(2, 3, 4, 1),
    ],
    [
      'moves several elements in sequence',
      identifiers(1, 2, 3, 4),
      [0, 1, 2].map((destination) => ({ type: 'move', path: 'Patient.identifier', source: 3, destination })),
      identifiers(4, 3, 2, 1),
    ],
    [
      'refuses to add below a missing element',
      '"identifier":[{"use":"official"}]',
      [
        {
          type: 'add',
          path: "Patient.identifier.where(use = 'official').period",
          name: 'end',
          value: '"valueDateTime":"2021"',
        },
      ],
      'unprocessable',
    ],
    [
      'adds the first element of a list',
      '',
      [{ type: 'add', path: 'Patient', name: 'identifier', value: '"valueIdentifier":{"value":"3"}' }],
      identifiers(3),
    ],
  ])('%s', (_fact, content, steps, result) => {
    expect(patched(content, ...steps)).toBe(result);
  });

  it('accepts Parameters without parameters', () => {
    expect(outcome('Patient', '"active":true', '{"resourceType":"Parameters"}')).toBe('"active":true');
  });

  it('keeps the digits of patched and unpatched numbers', () => {
    const content = '"valueQuantity":{"value":1.10},"component":[{"valueQuantity":{"value":2.50}}]';
    const add = operation({
      type: 'add',
      path: 'Observation.component[0]',
      name: 'referenceRange',
      value: '"part":[{"name":"low","valueQuantity":{"value":0.10}}]',
    });
    expect(outcome('Observation', content, parameters(add))).toBe(
      '"valueQuantity":{"value":1.10},"component":[{"valueQuantity":{"value":2.50},"referenceRange":[{"low":{"value":0.10}}]}]',
    );
    const decimal = operation({ type: 'replace', path: 'Observation.value.value', value: '"valueDecimal":3.00' });
    expect(outcome('Observation', content, parameters(decimal))).toContain('"valueQuantity":{"value":3.00}');
  });

  it('keeps a long name of a member whose type R4 does not define', () => {
    const name = 'x'.repeat(300);
    const value = `"part":[{"name":"${name}","valueString":"y"}]`;
    const add = operation({ type: 'add', path: 'Ward', name: 'bed', value });
    expect(outcome('Ward', '', parameters(add))).toBe(`"bed":{"${name}":"y"}`);
  });

  describe('a choice element', () => {
    const observed = (content: string, step: Step): string =>
      outcome('Observation', content, parameters(operation(step)));
    const text = '"valueString":"high"';

    it('is found by its name, replaced by another type at the same position, and added under its type', () => {
      expect(
        observed('"valueQuantity":{"value":1},"note":[]', { type: 'replace', path: 'Observation.value', value: text }),
      ).toBe('"valueString":"high","note":[]');
      expect(observed('', { type: 'add', path: 'Observation', name: 'value', value: text })).toBe(
        '"valueString":"high"',
      );
      expect(observed('', { type: 'add', path: 'Observation', name: 'valueString', value: text })).toBe(
        '"valueString":"high"',
      );
      expect(observed('"valueInteger":1', { type: 'delete', path: 'Observation.value' })).toBe('');
    });

    it('occurs once, and with a type that R4 allows', () => {
      const add = { type: 'add', path: 'Observation', name: 'value', value: text };
      expect(observed('"valueQuantity":{"value":1}', add)).toBe('unprocessable');
      expect(observed('', { ...add, value: '"valueAddress":{}' })).toBe('unprocessable');
      expect(observed('', { ...add, value: '"part":[{"name":"value","valueDecimal":1}]' })).toBe('unprocessable');
    });
  });

  describe('a path', () => {
    const content =
      '"name":[{"use":"usual","given":["A","B"]},{"use":"official","given":["C"]}],' +
      '"telecom":[{"system":"phone","value":"1"},{"system":"email","value":"e"}],' +
      '"extension":[{"url":"http://e/1","valueString":"x"},{"url":"http://e/2","extension":[{"url":"in","valueCode":"y"}]}]';

    it.each([
      ['Patient.name[1].given[0]', '"given":["Z"]'],
      ['name[1].given[0]', '"given":["Z"]'],
      ["Patient.name.where(use = 'official').given.first()", '"given":["Z"]'],
      ["Patient.name.where(use='usual').given.last()", '"given":["A","Z"]'],
      ["Patient.name.where(use = 'usual' and given.exists()).given[0]", '"given":["Z","B"]'],
      ["Patient.telecom.where(system = 'email').value", '"value":"Z"'],
      ["Patient.telecom.where(value.startsWith('e')).value", '"value":"Z"'],
      ["Patient.extension('http://e/1').value", '"valueString":"Z"'],
      ["Patient.extension.where(url = 'http://e/1').value.ofType(string)", '"valueString":"Z"'],
      ['Patient.name.skip(1).given', '"given":["Z"]'],
    ])('selects one element: %s', (path, shown) => {
      expect(patched(content, { type: 'replace', path, value: '"valueString":"Z"' })).toContain(shown);
    });

    it('selects an element of a nested extension', () => {
      const path = "Patient.extension('http://e/2').extension('in').value";
      expect(patched(content, { type: 'replace', path, value: '"valueCode":"z"' })).toContain('"valueCode":"z"');
    });

    it.each([
      ['no element', 'Patient.photo'],
      ['several elements', 'Patient.name.given'],
      ['several elements of a union', 'Patient.name | Patient.telecom'],
      ['a computed value', 'Patient.name.count()'],
      ['a literal', "'x'"],
      ['a changed text', 'Patient.name[0].given[0].upper()'],
      ['the resource itself', 'Patient'],
      ['a variable', '%resource.name[0]'],
      ['another resource', 'Patient.managingOrganization.resolve().name'],
      ['the first descendant', 'Patient.descendants().first()'],
      ['an endless search', 'Patient.repeat(children())'],
      ['the result of trace()', "Patient.trace('x').name[0]"],
      ['the result of an unknown function', 'Patient.nonsense()'],
    ])('is refused as unprocessable if it selects %s', (_case, path) => {
      expect(patched(content, { type: 'replace', path, value: '"valueString":"Z"' })).toBe('unprocessable');
    });

    it.each([
      ['no valid FHIRPath', 'Patient.name['],
      ['too long', `Patient.name.where(${'true and '.repeat(300)}true)`],
    ])('is refused as invalid if it is %s', (_case, path) => {
      expect(patched(content, { type: 'delete', path })).toBe('invalid');
    });
  });

  describe('the operation delete', () => {
    it('changes nothing for a missing element, and is refused for several elements', () => {
      expect(patched(CONTACT, { type: 'delete', path: 'Patient.birthDate' })).toBe(CONTACT);
      expect(patched(identifiers(1, 2), { type: 'delete', path: 'Patient.identifier' })).toBe('unprocessable');
    });
  });

  describe('a primitive with extensions', () => {
    const content = '"name":[{"given":["A",null,"C"],"_given":[null,{"id":"b"},null]}],"birthDate":"2000"';

    it('keeps its extensions aligned in a list', () => {
      const moved = patched(content, { type: 'move', path: 'Patient.name[0].given', source: 2, destination: 0 });
      expect(moved).toContain('{"given":["C","A",null],"_given":[null,null,{"id":"b"}]}');
      expect(patched(content, { type: 'delete', path: "Patient.name[0].given.where($this='A')" })).toContain(
        '{"given":[null,"C"],"_given":[{"id":"b"},null]}',
      );
      const insert = {
        type: 'insert',
        path: 'Patient.name[0].given',
        index: 1,
        value: '"_valueString":{"id":"n"},"valueString":"N"',
      };
      expect(patched(content, insert)).toContain(
        '{"given":["A","N",null,"C"],"_given":[null,{"id":"n"},{"id":"b"},null]}',
      );
    });

    it('gains and loses an extension', () => {
      const extension = '"valueExtension":{"url":"http://e","valueBoolean":true}';
      const added = patched(content, { type: 'add', path: 'Patient.birthDate', name: 'extension', value: extension });
      expect(added).toContain('"birthDate":"2000","_birthDate":{"extension":[{"url":"http://e","valueBoolean":true}]}');
      expect(patched(added, { type: 'delete', path: "Patient.birthDate.extension('http://e')" })).toBe(content);
    });
  });

  it('patches types that R4 does not define by their existing members', () => {
    const content = '"pulse":{"value":72},"list":[{"a":1}]';
    const own = (step: Step): string => outcome('SDCDocument', content, parameters(operation(step)));
    expect(own({ type: 'replace', path: 'SDCDocument.pulse.value', value: '"valueDecimal":72.0' })).toContain('72.0');
    expect(own({ type: 'add', path: 'SDCDocument.pulse', name: 'unit', value: '"valueString":"bpm"' })).toContain(
      '{"value":72,"unit":"bpm"}',
    );
    expect(
      own({ type: 'add', path: 'SDCDocument', name: 'list', value: '"part":[{"name":"a","valueInteger":2}]' }),
    ).toContain('"list":[{"a":1},{"a":2}]');
  });

  it.each<[string, Step]>([
    ['an unknown element', { type: 'add', path: 'Patient', name: 'colour', value: '"valueString":"x"' }],
    [
      'the addition of an existing element',
      { type: 'add', path: 'Patient', name: 'gender', value: '"valueCode":"male"' },
    ],
    ['an index beyond the list', { type: 'insert', path: 'Patient.name', index: 2, value: '"valueHumanName":{}' }],
    [
      'an insertion into an element that does not repeat',
      { type: 'insert', path: 'Patient.gender', index: 0, value: '"valueCode":"x"' },
    ],
    [
      'an insertion whose path selects one element of a list',
      { type: 'insert', path: 'Patient.name[0]', index: 0, value: '"valueHumanName":{}' },
    ],
    ['a move from an index beyond the list', { type: 'move', path: 'Patient.name', source: 1, destination: 0 }],
    ['a move to an index beyond the list', { type: 'move', path: 'Patient.name', source: 0, destination: 1 }],
  ])('refuses %s as not applicable', (_case, step) => {
    expect(patched('"gender":"female","name":[{"family":"A"}]', step)).toBe('unprocessable');
  });

  it.each([
    ['another resource', '{"resourceType":"Bundle"}'],
    ['a parameter with another name', parameters('{"name":"op","part":[]}')],
    ['an operation without parts', parameters('{"name":"operation"}')],
    ['an unknown type', parameters(operation({ type: 'upsert', path: 'Patient' }))],
    ['an operation without a path', parameters('{"name":"operation","part":[{"name":"type","valueCode":"delete"}]}')],
    ['a replacement without a value', parameters(operation({ type: 'replace', path: 'Patient.gender' }))],
    [
      'two values',
      parameters(operation({ type: 'replace', path: 'Patient.gender', value: '"valueCode":"a","valueString":"b"' })),
    ],
    [
      'an insertion without an index',
      parameters(operation({ type: 'insert', path: 'Patient.name', value: '"valueString":"b"' })),
    ],
    ['a negative index', parameters(operation({ type: 'move', path: 'Patient.name', source: -1, destination: 0 }))],
    [
      'a duplicate part',
      parameters(operation({ type: 'delete', path: 'a' }).replace(']', ',{"name":"path","valueString":"b"}]')),
    ],
  ])('refuses %s as malformed', (_case, patch) => {
    expect(outcome('Patient', '"gender":"female"', patch)).toBe('invalid');
  });
});
