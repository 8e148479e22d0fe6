import { randomBytes } from 'node:crypto';
import { DeliveryFailure } from '../delivery-failure';
import { type Finding, type Outgoing } from '../delivery-kind';
import { type WebhookAnswer, type WebhookSender, isSuccess } from './webhook-sender';
import { type WebhookSettings } from './webhook-settings';

/** Slower responses get a warning. */
const SLOW_MILLISECONDS = 2000;

const pass = (name: string, message: string): Finding => ({ name, grade: 'pass', message });
const warn = (name: string, message: string): Finding => ({ name, grade: 'warn', message });
const fail = (name: string, message: string): Finding => ({ name, grade: 'fail', message });

/** Sends a sample up to three times, like a delivery, and grades the webhook's responses. */
export async function probeWebhook(
  sender: WebhookSender,
  sample: Outgoing,
  settings: WebhookSettings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const startedAt = performance.now();
  const send = (sent: WebhookSettings): Promise<WebhookAnswer> => sender.exchange(sample, sent, signal);
  let answer: WebhookAnswer;
  try {
    answer = await send(settings);
  } catch (error) {
    const failure: unknown = signal.aborted ? signal.reason : error;
    if (failure instanceof DeliveryFailure) return [fail('answer', failure.message)];
    throw failure;
  }
  const milliseconds = Math.round(performance.now() - startedAt);
  if (!isSuccess(answer.status)) return [answered(answer.status)];
  return [
    answered(answer.status),
    milliseconds < SLOW_MILLISECONDS
      ? pass('time', `Answered within ${milliseconds} ms.`)
      : warn(
          'time',
          `Answered after ${milliseconds} ms: the next batch waits for each answer. Answer first, work afterwards.`,
        ),
    settings.endpoint.startsWith('https:')
      ? pass('encryption', 'The endpoint uses TLS.')
      : warn('encryption', 'Events go to the endpoint unencrypted: use https.'),
    await repeated(() => send(settings)),
    await forged(settings, () => send({ ...settings, secrets: [randomBytes(32).toString('base64')] })),
  ];
}

function answered(status: number): Finding {
  if (isSuccess(status)) return pass('answer', `Answered HTTP ${status}.`);
  if (status >= 300 && status <= 399)
    return fail('answer', `Answered HTTP ${status}: redirects are not followed. Name the final URL.`);
  return fail('answer', `Answered HTTP ${status}; only 2xx counts as delivered.`);
}

async function repeated(send: () => Promise<WebhookAnswer>): Promise<Finding> {
  const status = await statusOf(send);
  if (status !== undefined && isSuccess(status))
    return pass('repetition', 'A notification that came before was taken again.');
  return warn(
    'repetition',
    `The same notification was answered ${shown(status)} the second time. Deliveries can repeat: answer 2xx to a known webhook-id.`,
  );
}

async function forged({ secrets }: WebhookSettings, send: () => Promise<WebhookAnswer>): Promise<Finding> {
  if (secrets.length === 0)
    return warn('signature', 'Nothing is signed: add a secret parameter, and check webhook-signature.');
  const status = await statusOf(send);
  if (status === undefined || !isSuccess(status))
    return pass('signature', `A wrong signature was answered ${shown(status)}.`);
  return warn(
    'signature',
    `A wrong signature was answered HTTP ${status}: the receiver does not check webhook-signature.`,
  );
}

const shown = (status: number | undefined): string => (status === undefined ? 'not at all' : `HTTP ${status}`);

async function statusOf(send: () => Promise<WebhookAnswer>): Promise<number | undefined> {
  try {
    return (await send()).status;
  } catch (error) {
    if (error instanceof DeliveryFailure) return undefined;
    throw error;
  }
}
