import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { KeptOn } from './kept-on';

const COUNT = 4_000;
/** Size of a value. */
const BYTES = 8_000;

/** Prints how many bytes are promoted while values are kept on objects that nothing else uses. */
const SCRIPT = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const kept = new (${KeptOn.toString()})();
  const weak = new WeakMap();
  const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
  const promotedBy = (map) => {
    gc({ type: 'minor' });
    const before = oldBytes();
    for (let count = 1; count <= ${COUNT}; count++) {
      const owner = {};
      map.set(owner, { owner, numbers: new Array(${BYTES / 8}).fill(count) });
      if (count % 200 === 0) gc({ type: 'minor' });
    }
    return oldBytes() - before;
  };
  console.log(JSON.stringify([promotedBy(kept), promotedBy(weak)]));
`;

describe('values kept on objects', () => {
  it('are found only by the object itself', () => {
    const [one, other] = [new KeptOn<object, string>(), new KeptOn<object, string>()];
    const owner = { id: 'a' };
    one.set(owner, 'first');
    one.set(owner, 'second');
    expect([one.get(owner), other.get(owner), one.get({ ...owner })]).toEqual(['second', undefined, undefined]);
    expect(JSON.stringify(owner)).toBe('{"id":"a"}');
  });

  it('are collected with the young generation, unlike those of a WeakMap', () => {
    const flags = ['--expose-gc', '--no-allocation-site-pretenuring'];
    const printed = execFileSync(process.execPath, [...flags, '-e', SCRIPT], { encoding: 'utf8' });
    const [kept, weak] = JSON.parse(printed) as [number, number];
    expect(kept).toBeLessThan((COUNT * BYTES) / 10);
    expect(weak).toBeGreaterThan((COUNT * BYTES) / 2);
  });
});
