import { Injectable } from '@nestjs/common';
import { OPEN_EVENTS } from '../../delivery/delivery-statements';
import { type DeliveryBatch, type NotificationRenderer } from '../../delivery/notification-renderer';
import { Environment } from '../../platform/config/environment';
import { type Statement } from '../../platform/database/statement';
import { ResourceReader, type VersionKey } from '../../store/resource-reader';
import { DefinesResourceType } from '../../model/resource-type';
import { versionsOf } from '../../store/resource-statements';
import { presentationIn } from '../destinations/destination-presentation';
import { notificationBundle } from './notification-bundle';
import { SUBSCRIPTION_STATUS_SHAPE } from '../topics/topic.shapes';

/** Reads the texts of the versions that the events of a batch report; null for a deletion. */
const READ_TEXTS: Statement = {
  name: 'notification-texts',
  text: `select found.* from ${versionsOf(OPEN_EVENTS, 'type, id, version, body')} order by asked.position`,
};

interface TextRow extends VersionKey {
  readonly body: string | null;
}

/** Renders a batch from the history, which never changes: each event shows the version that it reports. */
@Injectable()
@DefinesResourceType({ type: 'SvcSubscriptionStatus', shape: SUBSCRIPTION_STATUS_SHAPE, isSentOnly: true })
export class NotificationBundleRenderer implements NotificationRenderer {
  constructor(
    private readonly reader: ResourceReader,
    private readonly environment: Environment,
  ) {}

  statementFor(presentation: string): Statement | undefined {
    return presentationIn(presentation).content === 'full-resource' ? READ_TEXTS : undefined;
  }

  async render(batch: DeliveryBatch): Promise<string> {
    const presentation = presentationIn(batch.presentation);
    const texts = presentation.content === 'full-resource' ? await this.textsOf(batch) : [];
    const events = batch.events.map((event, index) => {
      const text = texts[index] ?? null;
      return text === null ? event : { ...event, text };
    });
    return notificationBundle(batch, events, presentation, batch.origin?.baseUrl ?? this.environment.baseUrl);
  }

  /**
   * Returns the text of each event, in order. Texts that were read with the batch are used only if each belongs to its
   * event: a wrong text could show the data of another patient.
   */
  private async textsOf({ events, material = [] }: DeliveryBatch): Promise<readonly (string | null)[]> {
    const rows = material as readonly TextRow[];
    if (events.every((event, index) => isSameVersion(event, rows[index]))) return rows.map(({ body }) => body);
    const versions = await this.reader.findVersions(events);
    const texts = new Map(versions.map((version) => [versionKey(version), version.text]));
    return events.map((event) => texts.get(versionKey(event)) ?? null);
  }
}

const isSameVersion = ({ type, id, version }: VersionKey, other: VersionKey | undefined): boolean =>
  other?.id === id && other.version === version && other.type === type;

const versionKey = ({ type, id, version }: VersionKey): string => `${type}/${id}/${version}`;
