import { describe, expect, it } from '@jest/globals';
import { postgresPids, programPath } from './programs';

describe('Programs of a failover', () => {
  it('a missing one is named in one sentence, with its Debian package', () => {
    expect(() => programPath('no-such-program', 'etcd-server')).toThrow(
      new Error('The program no-such-program is missing: install it (Debian: apt-get install etcd-server).'),
    );
  });

  it('a folder without a postmaster has no processes', async () => {
    expect(await postgresPids('no-such-folder')).toEqual([]);
  });
});
