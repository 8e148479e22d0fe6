import { appendFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import {
  DeliverBy,
  type DeliveryKind,
  type DeliverySettings,
  type DestinationParameter,
  type Notification,
} from '../../../src/delivery/delivery-kind';
import { ServiceError } from '../../../src/platform/errors/service-error';

interface FileDropSettings extends DeliverySettings {
  readonly path: string;
}

@Injectable()
@DeliverBy({ kind: 'acme-file-drop', profiles: ['StructureDefinition/acme-file-drop'] })
export class FileDropKind implements DeliveryKind<FileDropSettings> {
  settingsOf(parameters: readonly DestinationParameter[]): FileDropSettings {
    const path = parameters.find(({ name }) => name === 'path')?.valueString;
    if (typeof path !== 'string') throw new ServiceError('unprocessable', 'path is required, in valueString.');
    return { path, timeoutSeconds: 5, maxMessagesInBatch: 100 };
  }

  async send({ body }: Notification, { path }: FileDropSettings, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await appendFile(path, Buffer.concat([body, Buffer.from('\n')]));
  }
}
