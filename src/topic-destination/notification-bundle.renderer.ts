import { Injectable } from '@nestjs/common';
import { type DeliveryBatch, type NotificationRenderer, RendersNotifications } from '../delivery/notification-renderer';
import { Environment } from '../platform/config/environment';
import { ResourceReader } from '../resource/resource-reader';
import { DefinesResourceType } from '../resource/resource-type';
import { type DestinationPresentation } from './destination-presentation';
import { notificationBundle } from './notification-bundle';
import { SUBSCRIPTION_STATUS_SHAPE } from './topic.shapes';

/** Renders a batch from the immutable history: each event shows the version that it was about, not the present one. */
@Injectable()
@DefinesResourceType({ type: 'SvcSubscriptionStatus', shape: SUBSCRIPTION_STATUS_SHAPE, isSentOnly: true })
@RendersNotifications('history bundle')
export class NotificationBundleRenderer implements NotificationRenderer {
  constructor(
    private readonly reader: ResourceReader,
    private readonly environment: Environment,
  ) {}

  async render(batch: DeliveryBatch): Promise<string> {
    const presentation = JSON.parse(batch.presentation) as DestinationPresentation;
    const texts = presentation.content === 'full-resource' ? await this.textsOf(batch) : new Map<string, string>();
    const events = batch.events.map((event) => {
      const text = texts.get(versionKey(event));
      return text === undefined ? event : { ...event, text };
    });
    return notificationBundle(batch, events, presentation, this.environment.baseUrl);
  }

  private async textsOf({ events }: DeliveryBatch): Promise<ReadonlyMap<string, string>> {
    const versions = await this.reader.findVersions(events);
    return new Map(
      versions.flatMap((version) => (version.text === undefined ? [] : [[versionKey(version), version.text]])),
    );
  }
}

const versionKey = ({ type, id, version }: { type: string; id: string; version: number }): string =>
  `${type}/${id}/${version}`;
