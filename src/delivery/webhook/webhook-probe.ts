import { randomBytes } from 'node:crypto';
import { DeliveryFailure } from '../delivery-failure';
import { type Finding, type Outgoing } from '../delivery-kind';
import { type WebhookSender, isSuccess } from './webhook-sender';
import { type WebhookSettings } from './webhook-settings';

/** A response that takes longer than this gets a warning. */
const SLOW_MILLISECONDS = 2000;

/** Sends a sample up to three times, in the same way as a delivery, and grades the responses of the webhook. */
export async function probeWebhook(
  sender: WebhookSender,
  sample: Outgoing,
  settings: WebhookSettings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const startedAt = performance.now();
  const send = async (secrets = settings.secrets): Promise<number> =>
    (await sender.exchange(sample, { ...settings, secrets }, signal)).status;
  let status: number;
  try {
    status = await send();
  } catch (error) {
    const failure: unknown = signal.aborted ? signal.reason : error;
    if (failure instanceof DeliveryFailure) return [{ name: 'answer', grade: 'fail', message: failure.message }];
    throw failure;
  }
  const milliseconds = Math.round(performance.now() - startedAt);
  if (!isSuccess(status)) return [answered(status)];
  return [
    answered(status),
    milliseconds < SLOW_MILLISECONDS
      ? pass('time', `Answered within ${milliseconds} ms.`)
      : warn(
          'time',
          `Answered after ${milliseconds} ms: the next batch waits for each answer. Answer first, work afterwards.`,
        ),
    settings.endpoint.startsWith('https:')
      ? pass('encryption', 'The endpoint uses TLS.')
      : warn('encryption', 'Events go to the endpoint unencrypted: use https.'),
    repeated(await statusOf(send)),
    settings.secrets.length === 0
      ? warn('signature', 'Nothing is signed: add a secret parameter, and check webhook-signature.')
      : forged(await statusOf(() => send([randomBytes(32).toString('base64')]))),
  ];
}

const pass = (name: string, message: string): Finding => ({ name, grade: 'pass', message });
const warn = (name: string, message: string): Finding => ({ name, grade: 'warn', message });

function answered(status: number): Finding {
  if (isSuccess(status)) return pass('answer', `Answered HTTP ${status}.`);
  const advice =
    status >= 300 && status <= 399
      ? ': redirects are not followed. Name the final URL.'
      : '; only 2xx counts as delivered.';
  return { name: 'answer', grade: 'fail', message: `Answered HTTP ${status}${advice}` };
}

const repeated = (status: number | undefined): Finding =>
  isSuccess(status)
    ? pass('repetition', 'A notification that came before was taken again.')
    : warn(
        'repetition',
        `The same notification was answered ${shown(status)} the second time. Deliveries can repeat: answer 2xx to a known webhook-id.`,
      );

const forged = (status: number | undefined): Finding =>
  isSuccess(status)
    ? warn(
        'signature',
        `A wrong signature was answered ${shown(status)}: the receiver does not check webhook-signature.`,
      )
    : pass('signature', `A wrong signature was answered ${shown(status)}.`);

const shown = (status: number | undefined): string => (status === undefined ? 'not at all' : `HTTP ${status}`);

/** Returns the status of the response; undefined if there was none. */
const statusOf = (send: () => Promise<number>): Promise<number | undefined> =>
  send().catch((error: unknown) => {
    if (error instanceof DeliveryFailure) return undefined;
    throw error;
  });
