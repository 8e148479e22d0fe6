import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../src/platform/config/environment';
import { codeIn, rowsOf, textOf } from './documents';

const settings = rowsOf('docs/reference/settings.md', 'Settings').map(([name, , fallback]) => ({
  name: codeIn(name)[0] ?? '',
  defaults: codeIn(fallback),
}));
const DATABASE_URL = 'postgresql://localhost/svc';

describe('the settings of docs/reference/settings.md', () => {
  it('are exactly those that the server reads', () => {
    const read = [...textOf('src/platform/config/environment.ts').matchAll(/read\.\w+\(\s*'(\w+)'/g)].map(
      ([, name]) => name,
    );
    expect(settings.map(({ name }) => name).sort()).toEqual(read.sort());
  });

  it.each(settings.filter(({ defaults: [first] }) => first !== undefined && first !== 'DATABASE_URL'))(
    'include $name with the default $defaults',
    ({ name, defaults: [embedded = '', condition, external] }) => {
      expect(readEnvironment({ [name]: embedded })).toEqual(readEnvironment({}));
      if (condition !== 'DATABASE_URL') return;
      expect(readEnvironment({ DATABASE_URL, [name]: external })).toEqual(readEnvironment({ DATABASE_URL }));
    },
  );

  it('C13.1: have the documented bounds, and other numbers stop the start with a sentence', () => {
    const bounds = rowsOf('docs/reference/settings.md', 'Bounds of numbers').map(([name, least = '', most = '']) => ({
      name: codeIn(name)[0] ?? '',
      ...{ least: numberIn(least), most: numberIn(most) },
    }));
    const read = [...textOf('src/platform/config/environment.ts').matchAll(/read\.integer\(\s*'(\w+)'/g)];
    expect(bounds.map(({ name }) => name).sort()).toEqual(read.map(([, name]) => name).sort());
    for (const { name, least, most } of bounds) {
      for (const good of [least, most]) expect(() => readEnvironment({ [name]: String(good) })).not.toThrow();
      for (const wrong of [least - 1, most + 1, 'many'])
        expect(() => readEnvironment({ [name]: String(wrong) })).toThrow(
          `${name} must be a whole number from ${least} to ${most}, not "${wrong}"`,
        );
    }
  });

  it('state the unit that their name ends in', () => {
    const units = new Map(
      rowsOf('docs/reference/settings.md', 'Settings').map(([name = '', unit]) => [codeIn(name)[0], unit]),
    );
    const wanted = [...units].filter(([name = '']) => /_(BYTES|SECONDS|MILLISECONDS)$/.test(name));
    expect(wanted.filter(([name = '', unit]) => unit !== UNITS[name.slice(name.lastIndexOf('_') + 1)])).toEqual([]);
    expect(wanted.length).toBeGreaterThan(0);
  });
});

/** Reads a number in the form of the tables: `1,000,000`. */
const numberIn = (cell: string): number => Number(cell.replaceAll(',', ''));

const UNITS: Readonly<Record<string, string>> = { BYTES: 'bytes', SECONDS: 's', MILLISECONDS: 'ms' };
