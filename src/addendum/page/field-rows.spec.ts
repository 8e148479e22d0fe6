import { describe, expect, it } from '@jest/globals';
import { JsonOutline } from '../../platform/json/json-outline';
import { atOnce } from '../../platform/time/steps';
import { diffSnapshots } from '../snapshots/snapshot-diff';
import { changeRows, type FieldRows, valueRows } from './field-rows';
import { CHANGES, table } from './page-table';
import { SnapshotFields } from './snapshot-fields';

const NUMBERS = Array.from({ length: 20_000 }, (_, n) => n);
const [FIRST, ...OTHERS] = NUMBERS;

const fieldsOf = (list: readonly unknown[]): SnapshotFields =>
  new SnapshotFields(atOnce(JsonOutline.of(JSON.stringify({ list }))));

const changesTo = (list: readonly unknown[]): FieldRows => {
  const [before, after] = [JSON.stringify({ list: NUMBERS }), JSON.stringify({ list })];
  return changeRows(fieldsOf(NUMBERS), fieldsOf(list), atOnce(diffSnapshots(before, after)).entries);
};

describe('rows of a long array', () => {
  it.each<[string, () => FieldRows, number]>([
    ['its values', () => valueRows(fieldsOf(NUMBERS)), 20_000],
    ['its elements in another order', () => changesTo([...OTHERS, FIRST]), 1],
    ['its last element', () => changesTo([...NUMBERS.slice(0, -1), 'new']), 1],
  ])('come after pauses for %s', (_what, rowsOf, count) => {
    const rows = [...rowsOf()];
    expect(rows.indexOf(rows.find((row) => row !== undefined))).toBeGreaterThanOrEqual(19);
    expect(rows.filter((row) => row !== undefined)).toHaveLength(count);
  });

  it('are printed in short texts, including a row that lists all elements twice', () => {
    const texts = [...table(changesTo([...OTHERS, FIRST]), 'Changes', CHANGES)];
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(1_000);
    expect(texts.join('').match(/<li>/g)).toHaveLength(2 * NUMBERS.length);
    // The diff has an entry for each element. All but the first are skipped, with pauses too.
    expect(texts.length).toBeGreaterThan(3 * NUMBERS.length);
  });
});
