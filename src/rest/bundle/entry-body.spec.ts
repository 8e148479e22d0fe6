import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../../platform/json/json-members';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { entryPatchOf } from './entry-body';

describe(entryPatchOf, () => {
  it.each(['text/plain', 'constructor'])('refuses a Binary of type %s', async (contentType) => {
    const members = membersOf(JSON.stringify({ contentType, data: 'e30=' }));
    const resource = { type: 'Binary', id: undefined, members };
    await expect(entryPatchOf(resource, 1000, new Slices(new RequestContext()))).rejects.toThrow(
      'application/json-patch+json',
    );
  });
});
