import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { SecretBox } from '../platform/crypto/secret-box';
import { type AttemptLogLevel } from './attempt-log-level';
import { type DeliverySettings } from './delivery-kind';
import { COUNT_UNKNOWN_OUTCOME, type DeliveryCounts, STATUS } from './delivery-statements';
import { DeliveryWorker } from './delivery-worker';
import { type DestinationRuntime, DestinationRuntimes } from './destination-runtimes.repository';

/** How a destination is delivered to; the settings hold its secrets. */
export interface DestinationSettings {
  readonly kind: string;
  readonly settings: DeliverySettings;
}

/** A destination as its resource describes it. */
export interface Destination extends DestinationSettings {
  /** Handed to the renderer with each batch that is opened under it. */
  readonly presentation: string;
  /** Each attempt is told in the log, this loud; absent: none is. */
  readonly attemptLogLevel?: AttemptLogLevel;
}

/** What went wrong with an attempt; no credentials, header values or answer bodies. */
export interface DeliveryError {
  readonly message: string;
  /** ISO 8601, by the clock of the database. */
  readonly timestamp: string;
}

/** interface, "Status result of the destination". */
export interface DestinationStatus extends DeliveryCounts {
  readonly startedAt: Date;
  /** Newest first. */
  readonly lastErrors: readonly DeliveryError[];
  /** Whether nothing is delivered since a restore, until an operator releases it. */
  readonly isHeld: boolean;
}

const RECONFIGURED = 'The outcome is unknown: the destination was changed during the attempt. The batch is sent again.';

/** Makes, changes, ends and reports destinations. */
@Injectable()
export class Destinations {
  constructor(
    private readonly runtimes: DestinationRuntimes,
    private readonly secrets: SecretBox,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly worker: DeliveryWorker,
  ) {}

  /** What is in force. */
  async findSettings(id: string): Promise<DestinationSettings | undefined> {
    return this.settingsOf(await this.runtimes.find(id));
  }

  /** What the renderer is handed now; undefined where there is no such destination. */
  async findPresentation(id: string): Promise<string | undefined> {
    return (await this.runtimes.find(id))?.presentation;
  }

  /** All destinations, for matching events to them. */
  list(): Promise<readonly { readonly destinationKey: number; readonly presentation: string }[]> {
    return this.runtimes.list();
  }

  /**
   * Stores what `destinationOf` makes of the settings in force, in the open transaction. The queue stays; the next
   * attempt uses the new settings, at once. Tells whether anything changed.
   */
  async save(id: string, destinationOf: (inForce: DestinationSettings | undefined) => Destination): Promise<boolean> {
    const row = await this.runtimes.lock(id);
    const inForce = this.settingsOf(row);
    const { kind, settings, presentation, attemptLogLevel = null } = destinationOf(inForce);
    const isSame = row?.presentation === presentation && row.attemptLogLevel === attemptLogLevel;
    if (isSame && JSON.stringify(inForce) === JSON.stringify({ kind, settings })) return false;
    const sealedSettings = this.secrets.seal(Buffer.from(JSON.stringify(settings)));
    if (typeof row?.ownerSlot === 'number')
      await this.statements.run(COUNT_UNKNOWN_OUTCOME, [row.destinationKey, RECONFIGURED]);
    await this.runtimes.store(id, { kind, presentation, attemptLogLevel, sealedSettings }, settings);
    if (row !== undefined) this.endAttemptAfterCommit(row.destinationKey);
    return true;
  }

  /** Ends delivery and drops the queue, in the open transaction. */
  async remove(id: string): Promise<void> {
    const row = await this.runtimes.lock(id);
    if (row === undefined) return;
    await this.runtimes.remove(row.destinationKey);
    this.endAttemptAfterCommit(row.destinationKey);
  }

  /** One consistent snapshot, the same on every replica. */
  findStatus(id: string): Promise<DestinationStatus | undefined> {
    return this.statements.runOne<DestinationStatus>(STATUS, [id]);
  }

  private settingsOf(row: DestinationRuntime | undefined): DestinationSettings | undefined {
    if (row === undefined) return undefined;
    return {
      kind: row.kind,
      settings: JSON.parse(this.secrets.open(row.sealedSettings).toString()) as DeliverySettings,
    };
  }

  private endAttemptAfterCommit(destinationKey: number): void {
    this.unitOfWork.afterCommit(() => {
      this.worker.abandon(destinationKey);
    });
  }
}
