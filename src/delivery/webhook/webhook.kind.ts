import { Injectable } from '@nestjs/common';
import {
  DeliverBy,
  type DeliveryKind,
  type DestinationParameter,
  type Finding,
  type Notification,
} from '../delivery-kind';
import { probeWebhook } from './webhook-probe';
import { WebhookSender } from './webhook-sender';
import {
  type WebhookSettings,
  endpointOf,
  maskedParameter,
  unmaskedParameters,
  webhookSettingsOf,
} from './webhook-settings';

/** interface, "SvcTopicDestination (webhook kind)". */
@Injectable()
@DeliverBy({
  kind: 'webhook-at-least-once',
  profiles: [
    'StructureDefinition/svctopicdestination-webhook-at-least-once',
    'StructureDefinition/svctopicdestination-webhookAtLeastOnceProfile',
  ],
})
export class WebhookKind implements DeliveryKind<WebhookSettings> {
  constructor(private readonly sender: WebhookSender) {}

  settingsOf(parameters: readonly DestinationParameter[], inForce: WebhookSettings | undefined): WebhookSettings {
    return webhookSettingsOf(parameters, inForce);
  }

  masked(parameter: DestinationParameter): DestinationParameter {
    return maskedParameter(parameter);
  }

  unmasked(parameters: readonly DestinationParameter[], inForce: WebhookSettings): readonly DestinationParameter[] {
    return unmaskedParameters(parameters, inForce);
  }

  send(notification: Notification, settings: WebhookSettings, signal: AbortSignal): Promise<string> {
    return this.sender.send(notification, settings, signal);
  }

  /** Header values are credentials of the real endpoint. */
  redirected(settings: WebhookSettings, endpoint: string): WebhookSettings {
    return { ...settings, endpoint: endpointOf(endpoint), headers: [] };
  }

  probe(sample: Notification, settings: WebhookSettings, signal: AbortSignal): Promise<readonly Finding[]> {
    return probeWebhook(this.sender, sample, settings, signal);
  }
}
