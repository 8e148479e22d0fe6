import { describe, expect, it } from '@jest/globals';
import { type Statements } from '../platform/database/statements';
import { type RequestContext } from '../platform/request/request-context';
import { type Slices } from '../platform/time/slices';
import { LateTexts, type ListedVersion } from './late-texts';
import { type ResourceReader } from './resource-reader';

const LONG = 1_000_000;
const listed: ListedVersion[] = [1, 2].map((n) => ({
  ...{ type: 'Binary', id: `b${n}`, version: 1 },
  bytes: LONG,
  text: undefined,
}));

/** Bytes that a request has reserved after it read the list, and the texts. */
async function read(isBrief?: boolean): Promise<{ reserved: number; texts: (string | undefined)[] }> {
  let reserved = 0;
  const hold = (bytes: number): { release: () => void } => {
    reserved += bytes;
    return { release: () => (reserved -= bytes) };
  };
  const texts = new LateTexts(
    { findVersions: (some) => Promise.resolve(some.map((one) => ({ ...one, text: one.id }))) } as ResourceReader,
    { within: (_limit, work) => work() } as Statements,
    { ticket: { hold } } as RequestContext,
    {} as Slices,
  );
  const all = await texts.all(listed, isBrief);
  return { reserved, texts: all.map(({ text }) => text) };
}

describe(LateTexts, () => {
  it('reserves memory for kept texts until the end of the request', async () => {
    expect(await read()).toEqual({ reserved: LONG, texts: ['b1', 'b2'] });
  });

  it('releases the memory of texts that the caller drops before it reads others', async () => {
    expect(await read(true)).toEqual({ reserved: 0, texts: ['b1', 'b2'] });
  });
});
