import { describe, expect, it } from '@jest/globals';
import { namedParts, parametersIn, planOf, walk } from './plan';

type Node = Record<string, unknown>;

const node = (kind: string, members: Node = {}, plans: readonly Node[] = []): Node => ({
  'Node Type': kind,
  'Plan Rows': 1,
  'Actual Rows': 1,
  'Actual Loops': 1,
  'Actual Total Time': 1,
  ...members,
  ...(plans.length === 0 ? {} : { Plans: plans }),
});
const read = (root: Node): NonNullable<ReturnType<typeof planOf>> => {
  const plan = planOf([{ Plan: root, 'Planning Time': 0.5, 'Execution Time': 9 }]);
  if (plan === undefined) throw new Error('no plan');
  return plan;
};
const byKind = (root: Node): Record<string, unknown> =>
  Object.fromEntries([...walk(read(root).root)].map((one) => [one.kind, one]));

describe(planOf, () => {
  it('multiplies times by loops, and subtracts the time of child nodes', () => {
    const root = node('Nested Loop', { 'Actual Total Time': 10 }, [
      node('Seq Scan', { 'Actual Total Time': 2, 'Relation Name': 'resource' }),
      node('Index Scan', { 'Actual Total Time': 0.5, 'Actual Loops': 12, 'Index Name': 'resource_pk' }),
    ]);
    expect(byKind(root)).toMatchObject({
      'Nested Loop': { total: 10, own: 2 },
      'Seq Scan': { title: 'Seq Scan of resource', total: 2, own: 2 },
      'Index Scan': { index: 'resource_pk', total: 6, own: 6, loops: 12 },
    });
    expect(read(root)).toMatchObject({ dearest: '0.1', planningTime: 0.5, executionTime: 9 });
  });

  it('counts the time of a CTE once, at the CTE', () => {
    const root = node('Nested Loop', { 'Actual Total Time': 10 }, [
      node('Limit', { 'Subplan Name': 'CTE page', 'Actual Total Time': 8 }),
      node('CTE Scan', { 'CTE Name': 'page', 'Actual Total Time': 9 }),
    ]);
    expect(byKind(root)).toMatchObject({
      'Nested Loop': { own: 1 },
      Limit: { own: 8, subplan: 'CTE page' },
      'CTE Scan': { own: 1, title: 'CTE Scan of page' },
    });
  });

  it('marks estimates that are off by more than a factor of ten in either direction', () => {
    const misestimateOf = (estimate: number, actual: number): unknown =>
      read(node('Seq Scan', { 'Plan Rows': estimate, 'Actual Rows': actual })).root.misestimate;
    expect(misestimateOf(10, 101)).toEqual({ factor: 10.1, isMore: true });
    expect(misestimateOf(1000, 3)).toEqual({ factor: 1000 / 3, isMore: false });
    expect(misestimateOf(10, 100)).toBeUndefined();
    expect(misestimateOf(1, 0)).toBeUndefined();
    expect(misestimateOf(0, 11)).toEqual({ factor: 11, isMore: true });
  });

  it('marks no estimate below a Limit that stopped early, and none of a node that never ran', () => {
    const cut = node('Limit', {}, [node('Index Scan', { 'Plan Rows': 5000 })]);
    expect(byKind(cut)).toMatchObject({ 'Index Scan': { isCutShort: true } });
    expect((byKind(cut)['Index Scan'] as Node)['misestimate']).toBeUndefined();
    const sorted = node('Limit', {}, [node('Sort', {}, [node('Index Scan', { 'Plan Rows': 5000 })])]);
    expect(byKind(sorted)).toMatchObject({ 'Index Scan': { isCutShort: false, misestimate: { isMore: false } } });
    const never = node('Index Scan', { 'Plan Rows': 5000, 'Actual Rows': 0, 'Actual Loops': 0 });
    expect(byKind(never)).toMatchObject({ 'Index Scan': { isNeverRun: true, isCutShort: false } });
  });

  it('returns only estimates for a plan without ANALYZE', () => {
    const { root, dearest } = planOf([{ Plan: { 'Node Type': 'Seq Scan', 'Plan Rows': 7 } }]) ?? {};
    expect([root?.estimatedRows, root?.own, dearest]).toEqual([7, undefined, undefined]);
  });

  it.each([undefined, null, 'Limit (cost=…)', [], {}, [{}], [{ Plan: 'x' }]])('returns undefined for %j', (plan) => {
    expect(planOf(plan)).toBeUndefined();
  });
});

describe(namedParts, () => {
  const parameters = [{ id: 1719259227, name: 'Patient.family' }];

  it('replaces parameter ids by parameter names, and no other numbers', () => {
    const text = "(parameter_id = ANY ('{1719259227,99999}'::integer[]))";
    expect(
      namedParts(text, parameters)
        .map(({ text: part, isName }) => (isName ? `<${part}>` : part))
        .join(''),
    ).toBe("(parameter_id = ANY ('{<Patient.family>,99999}'::integer[]))");
  });

  it('lists each parameter of a node once', () => {
    const details = ['a = 1719259227', 'b = 1719259227'].map((text) => ({ label: 'Filter', text }));
    expect(parametersIn({ details }, parameters)).toEqual(['Patient.family']);
  });
});
