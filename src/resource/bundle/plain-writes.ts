import { Injectable } from '@nestjs/common';
import { type BundleEntry } from './bundle';
import { type BundleCall } from './bundle-call';
import { type Deadline } from './deadline';
import { type AnsweredEntry } from './entry-answer';
import { EntryFaults } from './entry-faults';
import { TransactionRunner } from './transaction-runner';

/** A POST or PUT that nothing but its resource decides. */
export const isPlainWrite = (entry: BundleEntry | undefined): boolean =>
  entry !== undefined &&
  (entry.request.method === 'POST' || entry.request.method === 'PUT') &&
  !/[?$]|_search/.test(entry.request.url) &&
  entry.request.ifNoneExist === undefined;

/** Writes neighbouring entries of a batch as one set. Links between them are left as they are: a batch has none. */
@Injectable()
export class PlainWrites {
  constructor(private readonly transactions: TransactionRunner) {}

  run(entries: readonly BundleEntry[], call: BundleCall, deadline: Deadline): Promise<AnsweredEntry[]> {
    const unlinked = entries.map((entry) => ({ ...entry, fullUrl: undefined }));
    return this.transactions.run({ type: 'batch', entries: unlinked, faults: new EntryFaults(true) }, call, deadline);
  }
}
