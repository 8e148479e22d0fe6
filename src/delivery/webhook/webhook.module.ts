import { Module } from '@nestjs/common';
import { AddressPolicy } from './address-policy';
import { WebhookKind } from './webhook.kind';
import { WebhookSender } from './webhook-sender';

/** Registers the webhook kind in the same way as kinds of other teams: delivery discovers it and does not import it. */
@Module({ providers: [AddressPolicy, WebhookKind, WebhookSender] })
export class WebhookModule {}
