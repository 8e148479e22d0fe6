import { Injectable } from '@nestjs/common';
import { DeliveryFailure } from '../delivery-failure';
import { DeliverBy, type DeliveryKind, type Finding, type Outgoing, type ShownRequest } from '../delivery-kind';
import { maskedEndpoint } from './endpoint-query';
import { shownHeaders } from './webhook-headers';
import { probeWebhook } from './webhook-probe';
import { WebhookSender, isSuccess } from './webhook-sender';
import {
  type WebhookSettings,
  endpointOf,
  maskedParameter,
  unmaskedParameters,
  webhookSettingsOf,
} from './webhook-settings';

@Injectable()
@DeliverBy({
  kind: 'webhook-at-least-once',
  profiles: [
    'StructureDefinition/svctopicdestination-webhook-at-least-once',
    'StructureDefinition/svctopicdestination-webhookAtLeastOnceProfile',
  ],
})
export class WebhookKind implements DeliveryKind<WebhookSettings> {
  readonly settingsOf = webhookSettingsOf;
  readonly masked = maskedParameter;
  readonly unmasked = unmaskedParameters;

  constructor(private readonly sender: WebhookSender) {}

  async send(outgoing: Outgoing, settings: WebhookSettings, signal: AbortSignal): Promise<string> {
    const { status, retryAfterSeconds, isRepeated } = await this.sender.exchange(outgoing, settings, signal);
    const outcome = `HTTP ${status}${isRepeated ? ', sent twice: the receiver closed a reused connection' : ''}`;
    if (isSuccess(status)) return outcome;
    throw new DeliveryFailure(outcome, retryAfterSeconds);
  }

  /** Leaves out the configured headers: they may be credentials of the real endpoint. */
  redirected(settings: WebhookSettings, endpoint: string): WebhookSettings {
    return { ...settings, endpoint: endpointOf(endpoint), headers: [] };
  }

  async shown(outgoing: Outgoing, settings: WebhookSettings): Promise<ShownRequest> {
    const notification = await outgoing.render();
    return {
      method: 'POST',
      url: maskedEndpoint(settings.endpoint),
      headers: shownHeaders(notification, settings),
      bytes: notification.body.length,
    };
  }

  probe(sample: Outgoing, settings: WebhookSettings, signal: AbortSignal): Promise<readonly Finding[]> {
    return probeWebhook(this.sender, sample, settings, signal);
  }
}
