import { Injectable } from '@nestjs/common';
import { permitsOf, Slots } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';
import { RequestContext } from '../../platform/request/request-context';
import { type Produce } from '../../platform/http/send-body';
import { Slices } from '../../platform/time/slices';
import { type BundleCall } from './bundle';
import { BatchRunner } from './batch-runner';
import { Deadline } from './deadline';
import { produceAnswer } from './entry-answer';
import { readBundle } from './read-bundle';
import { TransactionRunner } from './transaction-runner';

/** Maximum wait of a Bundle for a slot. Most HTTP clients would give up later than this. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * Processes Bundles (http://hl7.org/fhir/R4/http.html#transaction). A collection is stored as if it were a transaction
 * of PUTs.
 */
@Injectable()
export class BundleProcessor {
  private readonly slots: Slots;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly batches: BatchRunner,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
    private readonly environment: Environment,
  ) {
    this.slots = new Slots({
      ...permitsOf(environment.databasePoolSize, 1 / 2, 1 / 4),
      longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
      busyMessage: 'Too many Bundles at once. Try again.',
      retryAfterSeconds: 2,
    });
  }

  /**
   * Processes a Bundle and returns the answer.
   * @throws ServiceError with an expression that begins with the entry at fault; of a transaction, nothing is then
   *   stored. 'busy' after the longest wait for a slot
   */
  process(text: string, call: BundleCall): Promise<Produce> {
    const { ticket } = this.requests;
    const { bundleEntriesMax, bundleTimeoutSeconds } = this.environment;
    return this.slots.run(ticket, async () => {
      const bundle = await this.slices.run(readBundle(text, bundleEntriesMax));
      const deadline = new Deadline(bundleTimeoutSeconds, ticket.signal);
      const runner = bundle.type === 'batch' ? this.batches : this.transactions;
      return produceAnswer(bundle.type, await runner.run(bundle, call, deadline), call);
    });
  }
}
