import { describe, expect, it } from '@jest/globals';
import { type FieldRow } from '../../parts/body/body';
import { mergedRows, unplaced } from './merged-rows';
import { type AddendumAnswer } from './record';

const value = (path: string, text: string): FieldRow => ({
  ...{ type: 'recorded', path: path.split('.'), label: path.split('.') },
  new: { text },
});
const change = (type: FieldRow['type'], path: string, old?: string, now?: string): FieldRow => ({
  ...{ type, path: path.split('.'), label: path.split('.') },
  ...(old === undefined ? {} : { old: { text: old } }),
  ...(now === undefined ? {} : { new: { text: now } }),
});
const comment = (path: string): AddendumAnswer => ({
  ...{ sequence: 1, type: 'svc.sdc.addendum/Comment' },
  about: { path: path.split('.'), label: [path], isFound: true },
});

const VALUES = [
  value('status', 'amended'),
  value('temp.value', '38.40'),
  value('pulse.value', '92'),
  value('text', 'x'),
];

describe('rows of a revision', () => {
  it('contain each change beside the value that it concerns', () => {
    const rows = mergedRows(VALUES, [
      change('changed', 'temp.value', '37.20', '38.40'),
      change('removed', 'temp.site', 'ear'),
      change('added', 'pulse.value', undefined, '92'),
      change('removed', 'breath.value', '16'),
    ]);
    expect(rows.map(({ type, path }) => `${type} ${path.join('.')}`)).toEqual([
      'recorded status',
      'changed temp.value',
      'removed temp.site',
      'added pulse.value',
      'recorded text',
      'removed breath.value',
    ]);
  });

  it('show a unit once if it was added with its value', () => {
    const added = { ...change('added', 'dose.value', undefined, '400'), new: { text: '400', unit: 'mg' } };
    const unit = change('added', 'dose.unit', undefined, 'mg');
    const other = change('changed', 'temp.unit', 'Cel', '[degF]');
    expect(mergedRows([], [added, unit, other]).map(({ path }) => path.join('.'))).toEqual(['dose.value', 'temp.unit']);
  });

  it('show the changes of an empty revision', () => {
    expect(mergedRows([], [change('removed', 'a', 'x')]).map(({ path }) => path)).toEqual([['a']]);
  });

  it('contain each comment at its value, or at the first value of a container', () => {
    const comments = [comment('temp.value'), comment('pulse'), comment('gone')];
    const rows = mergedRows(VALUES, [], comments);
    expect(rows.map(({ comments: here }) => here.length)).toEqual([0, 1, 1, 0]);
    expect(unplaced(rows, comments).map(({ about }) => about?.path)).toEqual([['gone']]);
  });
});
