import { Module } from '@nestjs/common';
import { AddressPolicy } from './address-policy';
import { WebhookKind } from './webhook.kind';
import { WebhookSender } from './webhook-sender';

/** Registered like kinds of other teams: delivery discovers it and does not import it. */
@Module({ providers: [AddressPolicy, WebhookKind, WebhookSender] })
export class WebhookModule {}
