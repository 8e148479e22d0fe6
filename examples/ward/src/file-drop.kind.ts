import { appendFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import {
  DeliverBy,
  DeliveryFailure,
  type DeliveryKind,
  type DeliverySettings,
  type DestinationParameter,
  type Outgoing,
  ServiceError,
} from 'svc-health-server';

interface FileDropSettings extends DeliverySettings {
  readonly path: string;
}

@Injectable()
@DeliverBy({ kind: 'acme-file-drop', profiles: ['StructureDefinition/acme-file-drop'] })
export class FileDropKind implements DeliveryKind<FileDropSettings> {
  settingsOf(parameters: readonly DestinationParameter[]): FileDropSettings {
    const [path, ...others] = parameters;
    if (path?.name !== 'path' || typeof path.valueString !== 'string' || others.length > 0)
      throw new ServiceError('unprocessable', 'acme-file-drop has one parameter: path, in valueString.');
    return { path: path.valueString, timeoutSeconds: 5, maxMessagesInBatch: 2 };
  }

  async send(outgoing: Outgoing, { path }: FileDropSettings, signal: AbortSignal): Promise<void> {
    const { body } = await outgoing.render();
    signal.throwIfAborted();
    await appendFile(path, Buffer.concat([body, Buffer.from('\n')])).catch(() => {
      throw new DeliveryFailure('The file cannot be written'); // a text for `$status`, without the path
    });
  }
}
