import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../../platform/json/json-members';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { type BundleEntry } from './bundle';
import { entryPatchOf } from './entry-body';

describe(entryPatchOf, () => {
  it.each(['text/plain', 'constructor'])('refuses a Binary of type %s', async (contentType) => {
    const members = membersOf(JSON.stringify({ contentType, data: 'e30=' }));
    const entry: BundleEntry = {
      index: 0,
      fullUrl: undefined,
      resource: { type: 'Binary', id: undefined, members },
      request: { method: 'PATCH', url: 'Patient/p1' },
    };
    await expect(entryPatchOf(entry, 1000, new Slices(new RequestContext()))).rejects.toThrow(
      'application/json-patch+json',
    );
  });
});
