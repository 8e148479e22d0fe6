import { once } from 'node:events';
import { connect } from 'node:net';
import { Injectable } from '@nestjs/common';
import {
  DeliverBy,
  DeliveryFailure,
  type DeliveryKind,
  type DeliverySettings,
  type DestinationParameter,
  MASK,
  type Outgoing,
  ServiceError,
} from 'svc-health-server';

interface PagerSettings extends DeliverySettings {
  readonly port: number;
  readonly pin: string;
}

@Injectable()
@DeliverBy({ kind: 'acme-pager', profiles: ['StructureDefinition/acme-pager'] })
export class PagerKind implements DeliveryKind<PagerSettings> {
  settingsOf(sent: readonly DestinationParameter[], inForce: PagerSettings | undefined): PagerSettings {
    const [port, pin] = [sent[0]?.valueInteger, sent[1]?.valueString === MASK ? inForce?.pin : sent[1]?.valueString];
    const names = sent.map(({ name }) => name).join(', ');
    if (names !== 'port, pin' || typeof port !== 'number' || typeof pin !== 'string')
      throw new ServiceError('unprocessable', 'Send port (valueInteger) and pin (valueString), and nothing else.');
    return { port, pin, timeoutSeconds: 5, maxMessagesInBatch: 1 };
  }

  masked(parameter: DestinationParameter): DestinationParameter {
    return parameter.name === 'pin' ? { ...parameter, valueString: MASK } : parameter;
  }

  async send(outgoing: Outgoing, { port, pin }: PagerSettings, signal: AbortSignal): Promise<string> {
    const { id } = await outgoing.render();
    const line = connect(port, '127.0.0.1').setEncoding('ascii');
    line.write(`${pin} ${id}\n`);
    const failure = new DeliveryFailure('The pager does not answer', 1); // again in a second at the earliest
    const answers = once(line, 'data', { signal }).catch(() => Promise.reject(failure));
    return `The pager said ${String(await answers.finally(() => line.destroy())).slice(0, 40)}`;
  }
}
