import { describe, expect, it } from '@jest/globals';
import { type Slices } from '../../platform/time/slices';
import { type JsonMember, membersOf } from '../../platform/json/json-members';
import { type BundleEntry } from './bundle';
import { entryPatchOf } from './entry-body';

describe(entryPatchOf, () => {
  it.each(['text/plain', 'constructor'])('refuses a Binary of type %s', async (contentType) => {
    const members: readonly JsonMember[] = membersOf(JSON.stringify({ contentType, data: 'e30=' }));
    const entry = { resource: { type: 'Binary', members } } as unknown as BundleEntry;
    await expect(entryPatchOf(entry, 1000, {} as Slices)).rejects.toThrow('application/json-patch+json');
  });
});
