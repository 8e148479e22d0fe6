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
  text: `select found.* from ${versionsOf(OPEN_EVENTS, 'type, id, version, body as text')}`,
};

type VersionText = VersionKey & { readonly text?: string | null | undefined };

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
    const texts = presentation.content === 'full-resource' ? await this.textsOf(batch) : textsByName([]);
    const events = batch.events.map((event) => ({ ...event, text: texts.get(versionName(event)) ?? undefined }));
    return notificationBundle(batch, events, presentation, batch.origin?.baseUrl ?? this.environment.baseUrl);
  }

  /**
   * Returns the texts of the events by name: a text in the wrong place could show the data of another patient. A claim
   * that was lost during its reads lacks texts, so they are read again.
   */
  private async textsOf({ events, material = [] }: DeliveryBatch): Promise<Texts> {
    const texts = textsByName(material as VersionText[]);
    const isWhole = events.every((event) => texts.has(versionName(event)));
    return isWhole ? texts : textsByName(await this.reader.findVersions(events));
  }
}

type Texts = ReadonlyMap<string, string | null | undefined>;

const textsByName = (versions: readonly VersionText[]): Texts =>
  new Map(versions.map((version) => [versionName(version), version.text]));

const versionName = ({ type, id, version }: VersionKey): string => `${type}/${id}/${version}`;
