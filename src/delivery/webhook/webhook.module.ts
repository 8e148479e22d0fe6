import { Module } from '@nestjs/common';
import { AddressPolicy } from './address-policy';
import { WebhookKind } from './webhook.kind';
import { WebhookSender } from './webhook-sender';

/** A kind like those of other teams: delivery finds it, and does not know it. */
@Module({ providers: [AddressPolicy, WebhookKind, WebhookSender] })
export class WebhookModule {}
