import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { rowsOf, codeIn, textOf } from './documents';

const PAGE = 'docs/reference/addenda.md';
const blocks = [...textOf(PAGE).matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);

const isCall = (block: string): boolean => block.startsWith('[{ "method"') || /^\{\s*"method"/.test(block);
const isAnswer = (block: string | undefined): boolean => /^\[?\{\s*"(result|error)"/.test(block ?? '');

describe(`the examples of ${PAGE}`, () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('return the documented results, sent in order', async () => {
    let last = '';
    for (const [index, block] of blocks.entries()) {
      if (isCall(block)) {
        const { status, text } = await app.post('/rpc', block);
        last = text;
        const documented = blocks[index + 1];
        if (documented !== undefined && isAnswer(documented)) {
          expect({ block, answer: JSON.parse(text) as unknown }).toEqual({
            block,
            answer: JSON.parse(documented) as unknown,
          });
        } else expect([block, status, text]).toEqual([block, 200, expect.stringContaining('"result"')]);
      } else if (block.includes('"resourceType"') && !isAnswer(block)) {
        const { id } = JSON.parse(block) as { id: string };
        expect((await app.put(`/SDCDocument/${id}`, block)).status).toBe(201);
      }
    }
    expect(blocks.filter(isCall).length).toBeGreaterThan(7);
    const { result: addenda } = JSON.parse(last) as { result: { type: string; diff?: object }[] };
    expect(addenda.map(({ type }) => type.split('/')[1])).toEqual([
      'Comment',
      'History',
      'History',
      'History',
      'Amendment',
    ]);
    const { diff } = JSON.parse(blocks.at(-1) ?? '{}') as { diff: object };
    expect(addenda.at(-1)?.diff).toEqual(diff);
  });

  it('state the status after each method', async () => {
    const rows = rowsOf(PAGE, 'The life of a document').filter(([method = '']) => method.includes('svc.sdc/'));
    expect(rows).toHaveLength(3);
    const froms = ['draft', 'in-progress', 'completed', 'in-amendment', 'amended', 'canceled'];
    for (const [method = '', ...cells] of rows) {
      const [name = ''] = codeIn(method);
      for (const [column, from] of froms.entries()) {
        const id = `${name.split('/')[1] ?? ''}-${from}`;
        const document = { resourceType: 'SDCDocument', id, status: from };
        await app.put(`/SDCDocument/${id}`, document);
        await app.post('/rpc', { method: name, params: name.endsWith('amend') ? { id } : { document } });
        const { status } = (await app.get(`/SDCDocument/${id}`)).json<{ status: string }>();
        expect([name, from, status]).toEqual([name, from, codeIn(cells[column])[0] ?? from]);
      }
    }
  });
});
