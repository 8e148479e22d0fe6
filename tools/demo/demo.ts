import { readOptions } from '../options';
import { HttpClient } from '../http-client';
import { tellAccess, tellDenial, tellGoodbye } from './access-story';
import { tellAddenda } from './addendum-story';
import { BrokenPromise } from './broken-promise';
import { tellChart, tellEverything } from './chart-story';
import { findRootSecret, newSecret } from './demo-secrets';
import { EventReceiver } from './event-receiver';
import { Story } from './story';
import { tellServer } from './server-story';
import { DESTINATION_PATHS, HOOK_HEADER, takeDown, tellWebhook } from './webhook-story';

/** Runs the whole demo against a running server; the exit code is 0 only if every step kept its promise. */
async function main(): Promise<number> {
  const { values } = readOptions(
    'npm run demo: plays the whole service against a running server at BASE_URL or PORT. With --keep the destinations and the Sessions stay.',
    { options: { keep: { type: 'boolean', default: false } } },
  );
  const { BASE_URL, PORT = '3000' } = process.env; // the variables that the server reads too
  const baseUrl = BASE_URL ?? `http://localhost:${PORT}`;
  const root = findRootSecret(process.env);
  if (!root) {
    process.stderr.write(
      'The secret of the client "root" is unknown. Start the server first (npm start), from the same folder or with\n' +
        'the same DATA_DIR, or set SVC_ROOT_CLIENT_SECRET.\n',
    );
    return 1;
  }
  const secrets = { root: root.value, app: newSecret(), nursePassword: newSecret(), guestPassword: newSecret() };
  const variables = [
    ['BASE_URL', baseUrl],
    ['ROOT_SECRET', secrets.root],
    ['APP_SECRET', secrets.app],
    ['NURSE_PASSWORD', secrets.nursePassword],
    ['GUEST_PASSWORD', secrets.guestPassword],
  ] as const;
  const story = new Story(new HttpClient(baseUrl), new Map(variables));
  const newSecretExpression = `"$(node -p 'crypto.randomBytes(24).toString("hex")')"`;
  story.print('Every call is shown as a line to paste. To follow by hand, from the first step on, begin with:\n');
  story.tell(`export BASE_URL=${baseUrl}`);
  story.tell(`export ROOT_SECRET=${root.expression}`);
  for (const name of ['APP_SECRET', 'NURSE_PASSWORD', 'GUEST_PASSWORD'])
    story.tell(`export ${name}=${newSecretExpression}`);

  const receiver = await EventReceiver.start(HOOK_HEADER);
  try {
    const token = await tellAccess(story, secrets);
    await tellDenial(story, token, secrets);
    await tellChart(story, token);
    await tellAddenda(story, token);
    await tellWebhook(story, token, receiver);
    await tellEverything(story, token);
    await tellServer(story, token);
    if (values.keep) {
      story.print('\nThe destinations and the Sessions stay, for a look at them.');
    } else {
      await takeDown(story, token);
      await tellGoodbye(story, token);
    }
    story.print('\nEvery step did what it promises.');
    return 0;
  } catch (error) {
    story.print(`\nStep "${story.title}" failed.`);
    story.tell(reasonOf(error));
    return 1;
  } finally {
    if (!values.keep) await takeDownQuietly(story.client, secrets.root);
    await receiver.stop();
  }
}

/**
 * Removes the destinations of an interrupted demo. Errors of the removal are ignored, so that the first failure is
 * reported.
 */
async function takeDownQuietly(client: HttpClient, rootSecret: string): Promise<void> {
  const authorization = { user: 'root', password: rootSecret };
  for (const path of DESTINATION_PATHS)
    await client.send({ method: 'DELETE', path, authorization }).catch(() => undefined);
}

function reasonOf(error: unknown): string {
  if (error instanceof BrokenPromise) return `Promised: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

void main().then((code) => {
  process.exitCode = code;
});
