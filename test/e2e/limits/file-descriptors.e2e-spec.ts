import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const MODULE = join(process.env.TEST_BUILD ?? '', 'src/platform/health/health-check.js');
const PATIENCE = 30_000;

/** Prints the health of a process before and after it has used up its file descriptors. */
const SCRIPT = `
  const { openSync } = require('node:fs');
  const { healthOf } = require(${JSON.stringify(MODULE)});
  const before = healthOf('pass', '');
  let code;
  while (code === undefined) try { openSync('/dev/null') } catch (error) { code = error.code }
  console.log(JSON.stringify({ code, before, after: healthOf('pass', '') }));
`;

// Only Linux reads the memory of a process from a file.
(process.platform === 'linux' ? describe : describe.skip)('a process without free file descriptors', () => {
  it(
    'passes its health check, but without memory figures',
    async () => {
      const limited = ['-c', 'ulimit -n 64 && exec "$0" -e "$1"', process.execPath, SCRIPT];
      const { stdout } = await promisify(execFile)('sh', limited);
      const { code, before, after } = JSON.parse(stdout) as Record<string, { readonly checks: object }>;
      expect([code, Object.keys(before?.checks ?? {}), Object.keys(after?.checks ?? {})]).toEqual([
        'EMFILE',
        ['uptime', 'memory:utilization'],
        ['uptime'],
      ]);
      expect(after).toMatchObject({ status: 'pass' });
    },
    PATIENCE,
  );
});
