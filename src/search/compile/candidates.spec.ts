import { describe, expect, it } from '@jest/globals';
import { type SearchClause } from '../query/search-query';
import { compilePage, compileTotal } from './compile-search';

const body: SearchClause = { kind: 'body', paths: ['$.code.text'] };
const words: SearchClause = { kind: 'words', alternatives: [['pulse']] };
const token: SearchClause = { kind: 'token', tokens: [{ hash: 1 }] };
const updated: SearchClause = { kind: 'updated', boxes: [{ lowFrom: Date.parse('2020-01-01') }] };
const [from, to] = [Date.parse('2020-01-01'), Date.parse('2021-01-01') - 1];
const notToken: SearchClause = { kind: 'not', clause: { kind: 'token', tokens: [{ hash: 2 }] } };

describe('The statement of a search', () => {
  it.each<[string, SearchClause, SearchClause, string]>([
    ['the time of the last update', body, updated, 'updated_at'],
    ['the time of the last update (words)', words, updated, 'updated_at'],
    ['an excluded token', body, notToken, 'search_token'],
    ['an excluded token (not)', { kind: 'not', clause: body }, notToken, 'search_token'],
  ])('tests the text of a resource after %s', (_what, reading, other, sql) => {
    for (const clauses of [
      [reading, other],
      [other, reading],
      [reading, token, other],
    ]) {
      const query = { type: 'Observation', clauses, count: 10 };
      const sorts = [undefined, [{ by: { kind: 'updated' }, isDescending: true }]] as const;
      const texts = [
        ...sorts.map((sort) => compilePage({ ...query, ...(sort === undefined ? {} : { sort }) }).statement.text),
        compileTotal(query).statement.text,
      ];
      for (const text of texts) {
        const read = text.indexOf('.body');
        expect([text, read > text.indexOf(sql) && text.includes(sql)]).toEqual([text, true]);
      }
    }
  });

  it.each([
    ['eq2020', { lowFrom: from, highTo: to }, false],
    ['sa2020', { lowFrom: to + 1 }, false],
    ['gt2020', { highFrom: to + 1 }, true],
    ['lt2020', { lowTo: from - 1 }, true],
  ])('reads long periods separately, unless the time contains their beginning: date=%s', (_date, box, isSeparate) => {
    const parameter = { parameterIds: [1], isSingle: true, isMainDate: true };
    const query = { type: 'Observation', clauses: [{ kind: 'date' as const, boxes: [box], ...parameter }], count: 10 };
    for (const { statement } of [compilePage(query), compileTotal(query)])
      expect(statement.text.includes(`interval '1 day'`)).toBe(isSeparate);
  });
});
