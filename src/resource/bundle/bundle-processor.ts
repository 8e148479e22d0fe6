import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { Slices } from '../../platform/time/slices';
import { type Bundle } from './bundle';
import { type BundleCall } from './bundle-call';
import { BatchRunner } from './batch-runner';
import { BundleSlots } from './bundle-slots';
import { Deadline } from './deadline';
import { bundleAnswerText } from './entry-answer';
import { readBundle } from './read-bundle';
import { TransactionRunner } from './transaction-runner';

/** Processes Bundles (http://hl7.org/fhir/R4/http.html#transaction). A collection is stored like a transaction of PUTs. */
@Injectable()
export class BundleProcessor {
  constructor(
    private readonly transactions: TransactionRunner,
    private readonly batches: BatchRunner,
    private readonly slots: BundleSlots,
    private readonly slices: Slices,
    private readonly environment: Environment,
  ) {}

  /**
   * Returns the text of the Bundle that answers.
   * @throws ServiceError with an expression that begins with the entry at fault; nothing of a transaction is left then.
   */
  process(text: string, call: BundleCall): Promise<string> {
    return this.slots.run(() => this.processNow(text, call));
  }

  private async processNow(text: string, call: BundleCall): Promise<string> {
    const { bundleEntriesMax, bundleTimeoutSeconds } = this.environment;
    const bundle = await this.slices.run(readBundle(text, bundleEntriesMax));
    const deadline = new Deadline(bundleTimeoutSeconds);
    return bundleAnswerText(bundle.type, await this.run(bundle, call, deadline), call);
  }

  private run(bundle: Bundle, call: BundleCall, deadline: Deadline): ReturnType<TransactionRunner['run']> {
    return bundle.type === 'batch'
      ? this.batches.run(bundle, call, deadline)
      : this.transactions.run(bundle, call, deadline);
  }
}
