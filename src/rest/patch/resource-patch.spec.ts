import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '../../../testing/eventually';
import { longestTurn } from '../../../test/support/longest-turn';
import { parseLossless, printLossless } from '../../../test/support/lossless-text';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { atOnce } from '../../platform/time/steps';
import { compileFhirPathPatch } from './fhirpath-patch';
import { compileResourcePatch } from './resource-patch';

const slices = new Slices(new RequestContext());

interface Operation {
  readonly type: string;
  readonly path: string;
  readonly [part: string]: unknown;
}

const patchOf = (operations: readonly Operation[]): string =>
  JSON.stringify({
    resourceType: 'Parameters',
    parameter: operations.map(({ type, path, value, ...others }) => ({
      name: 'operation',
      part: [
        { name: 'type', valueCode: type },
        { name: 'path', valueString: path },
        ...(value === undefined ? [] : [{ name: 'value', ...(value as object) }]),
        ...Object.entries(others).map(([name, given]) =>
          typeof given === 'number' ? { name, valueInteger: given } : { name, valueString: given },
        ),
      ],
    })),
  });

const apply = async (stored: string, operations: readonly Operation[]): Promise<string> => {
  const patch = await compileResourcePatch(undefined, patchOf(operations), 1e7, slices);
  return (await patch(stored)).text;
};

/** Applies a patch that keeps the limits. On a busy machine, a step may take too long, so the patch is tried again. */
const applyInTime = (stored: string, operations: readonly Operation[]): Promise<string> =>
  eventually(
    'the patch keeps the limits',
    () =>
      apply(stored, operations).catch((error: unknown) => {
        if (!(error instanceof ServiceError && error.message.includes('takes too long'))) throw error;
        return undefined;
      }),
    30_000,
  );

const named = (count: number): string =>
  `{"resourceType":"Patient","name":[${Array.from({ length: count }, (_, n) => `{"given":["${n}"],"family":"f"}`).join(',')}]}`;

/**
 * Limit of the longest turn of the event loop during a patch, in CPU milliseconds. It is five times the measured time,
 * since the compiler and the garbage collector of the process count too.
 */
const LONGEST = 500;

describe(compileResourcePatch.name, () => {
  it('S22: applies 250 operations to 60 kB in short time slices', async () => {
    const operations = Array.from({ length: 250 }, (_, n) => ({
      type: 'replace',
      path: `Patient.name[${n}].family`,
      value: { valueString: `g${n}` },
    }));
    let text = '';
    const longest = await longestTurn(async () => (text = await applyInTime(named(1500), operations)));
    expect(text).toContain('{"given":["249"],"family":"g249"},{"given":["250"],"family":"f"}');
    expect(longest).toBeLessThan(LONGEST);
  });

  it.each<[string, (n: number) => Operation]>([
    ['in', (n) => ({ type: 'replace', path: `Patient.name[${n * 50}].family`, value: { valueString: 'g' } })],
    ['to', () => ({ type: 'add', path: 'Patient', name: 'name', value: { valueHumanName: { family: 'g' } } })],
    [
      'into',
      (n) => ({ type: 'insert', path: 'Patient.name', index: n * 50, value: { valueHumanName: { family: 'g' } } }),
    ],
    ['from', (n) => ({ type: 'delete', path: `Patient.name[${n * 50}]` })],
    ['within', (n) => ({ type: 'move', path: 'Patient.name', source: n * 50, destination: 24_999 - n * 50 })],
  ])(
    'S22: applies 500 operations %s a list of 25,000 elements, 1 MB, in short time slices',
    async (_title, operationOf) => {
      const operations = Array.from({ length: 500 }, (_, n) => operationOf(n));
      let text = '';
      const longest = await longestTurn(async () => (text = await applyInTime(named(25_000), operations)));
      expect(text).not.toBe(named(25_000));
      expect(longest).toBeLessThan(LONGEST);
    },
  );

  it('S22: searches 16 times for a missing element in 400 kB, in short time slices', async () => {
    const operations = Array.from({ length: 16 }, () => ({ type: 'delete', path: 'Patient.contact.name.family' }));
    const stored = named(10_000);
    let text = '';
    const longest = await longestTurn(async () => (text = await applyInTime(stored, operations)));
    expect(text).toBe(stored);
    expect(longest).toBeLessThan(LONGEST);
  });

  it('S22: refuses a path that takes too long, and a patch with many slow paths', async () => {
    const inner = "given.where($this.length() > 0).exists() and family.where($this.startsWith('f')).exists()";
    const slow = `Patient.name.where(${Array.from({ length: 12 }, () => inner).join(' and ')})[0].family`;
    const value = { valueString: 'f' };
    const refused = { kind: 'unprocessable', message: expect.stringContaining('takes too long') as unknown };
    const longest = await longestTurn(async () => {
      await expect(apply(named(4000), [{ type: 'replace', path: slow, value }])).rejects.toMatchObject(refused);
      const some = { type: 'delete', path: "Patient.name.where(family = 'none')" };
      await expect(apply(named(4000), Array(1000).fill(some) as Operation[])).rejects.toMatchObject(refused);
    });
    expect(longest).toBeLessThan(LONGEST);
  });

  it('S22: returns the same result as a new tree for each operation, including digits', () => {
    const index = fc.nat({ max: 3 });
    const name = { valueHumanName: { family: 'n', given: ['x', 'y'] } };
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      fc.constant({ type: 'add', path: 'Patient', name: 'name', value: name }),
      index.map((at) => ({ type: 'insert', path: 'Patient.name', index: at, value: name })),
      fc
        .tuple(index, index)
        .map(([source, destination]) => ({ type: 'move', path: 'Patient.name', source, destination })),
      index.map((at) => ({ type: 'delete', path: `Patient.name[${at}].given[0]` })),
      index.map((at) => ({ type: 'delete', path: `Patient.name[${at}]` })),
      fc.constant({ type: 'delete', path: "Patient.name.where(family = 'n').first()" }),
      fc
        .constantFrom({ valueInteger: 2 }, { valueBoolean: true })
        .map((value) => ({ type: 'replace', path: 'Patient.multipleBirth', value })),
      index.map((at) => ({
        type: 'add',
        path: `Patient.name[${at}].family`,
        name: 'extension',
        value: { valueExtension: { url: 'http://e', valueDecimal: 1.5 } },
      })),
      fc.constant({ type: 'delete', path: "Patient.name.first().family.extension('http://e')" }),
      fc.constant({ type: 'replace', path: 'Patient.extension.value', value: { valueDecimal: 2 } }),
    );
    const stored =
      '{"resourceType":"Patient","extension":[{"url":"http://d","valueDecimal":1.10}],"name":[{"family":"a","given":["A",null],"_given":[null,{"id":"g"}]},{"family":"b"}],"multipleBirthInteger":1}';
    const result = (operations: readonly Operation[], text: string): string => {
      const patch = atOnce(compileFhirPathPatch(parseLossless(patchOf(operations))));
      return printLossless(atOnce(patch(parseLossless(text))));
    };
    const outcome = (run: () => string): string => {
      try {
        return run();
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
        const together = outcome(() => result(operations, stored));
        expect(together).toBe(outcome(() => operations.reduce((text, one) => result([one], text), stored)));
      }),
    );
  });
});
