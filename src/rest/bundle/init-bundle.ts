import { readFile } from 'node:fs/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { StartError } from '../../platform/errors/start-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { Slices } from '../../platform/time/slices';
import { type Bundle, type BundleCall } from './bundle';
import { Deadline } from './deadline';
import { readBundle } from './read-bundle';
import { TransactionRunner } from './transaction-runner';

const SYSTEM: BundleCall = { root: '', rootUrl: '', authorization: undefined, prefer: undefined, isSystem: true };

/**
 * Processes the Bundle of `SVC_INIT_BUNDLE` at each start, before the port opens. At later starts, an entry with PUT or
 * a conditional create changes nothing, since its resource is stored already.
 */
@Injectable()
export class InitBundle {
  private readonly logger = new Logger(InitBundle.name);

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly slices: Slices,
    private readonly environment: Environment,
  ) {}

  /**
   * Applies the Bundle, if there is one.
   * @throws StartError that names the file, the entry and the reason
   */
  async apply(): Promise<void> {
    const file = this.environment.initBundle;
    if (file === undefined) return;
    try {
      const text = decodeUtf8(await readFile(file));
      const bundle = await this.slices.run(readBundle(text, this.environment.bundleEntriesMax));
      for (const part of transactionsIn(bundle))
        await this.transactions.run(part, SYSTEM, new Deadline(this.environment.bundleTimeoutSeconds));
      this.logger.log(`Processed the ${bundle.type} of SVC_INIT_BUNDLE: ${bundle.entries.length} entries`);
    } catch (error) {
      const reason = serviceErrorOf(error)?.message ?? String(error).replace(/^Error: /, '');
      throw new StartError(`SVC_INIT_BUNDLE ${file}: ${reason}`, { cause: error });
    }
  }
}

/**
 * The transactions of a Bundle. Each entry of a batch is a separate transaction, but at start all of them must succeed.
 */
const transactionsIn = (bundle: Bundle): readonly Bundle[] =>
  bundle.type === 'batch' ? bundle.entries.map((entry) => ({ ...bundle, entries: [entry] })) : [bundle];
