import { readEnvironmentOfOne } from '../../src/platform/config/environment';
import { withKeptCredentials } from '../../src/platform/config/local-credentials';
import { SecretBox } from '../../src/platform/crypto/secret-box';
import { findRootSecret } from '../demo/demo-secrets';
import { type Authorization, HttpClient } from '../http-client';
import { callsOf, readOptions } from '../options';
import { runTool } from '../run-tool';
import { withDatabase } from '../with-database';
import { encryptAnew } from './encrypt-anew';

const USAGE = `rotate-keys [--compromised | --encryption]

Publishes a new signing key, which signs after SVC_KEY_OVERLAP_SECONDS, and withdraws keys whose last token has expired.
--compromised: a new key signs at once, all others are withdrawn, and their tokens end. The server closes the Sessions
later.
Server: BASE_URL or PORT. Credentials: TOKEN, BASIC=id:secret, or the secret of the Client root, in
SVC_ROOT_CLIENT_SECRET or in credentials.json of DATA_DIR.

--encryption: encrypts all secrets of the database with SVC_ENCRYPTION_KEY; SVC_ENCRYPTION_KEYS_ACCEPTED decrypts those
of an earlier key. Servers may run meanwhile.
Database: DATABASE_URL, or the embedded one in DATA_DIR.
${callsOf('rotate-keys')}
`;

async function main(): Promise<number> {
  const { values } = readOptions(USAGE, {
    options: { compromised: { type: 'boolean', default: false }, encryption: { type: 'boolean', default: false } },
  });
  if (values.compromised && values.encryption) throw new Error(`One option at a time.\n\n${USAGE}`);
  return values.encryption ? rotateEncryption() : rotateSigning(values.compromised);
}

async function rotateEncryption(): Promise<number> {
  const environment = await withKeptCredentials(readEnvironmentOfOne());
  await withDatabase(async (url) => {
    const { all, anew } = await encryptAnew(url, new SecretBox(environment), (line) =>
      process.stderr.write(`${line}\n`),
    );
    process.stdout.write(
      `All ${all} secrets are encrypted with SVC_ENCRYPTION_KEY; ${anew} of them had another key.\n` +
        'When each server has this key, SVC_ENCRYPTION_KEYS_ACCEPTED is no longer needed.\n',
    );
  });
  return 0;
}

async function rotateSigning(isCompromised: boolean): Promise<number> {
  const { BASE_URL, PORT = '3000' } = process.env; // the variables that the server reads too
  const authorization = authorizationOf(process.env);
  if (authorization === undefined) {
    process.stderr.write(`No credentials: set TOKEN, or BASIC to id:secret.\n\n${USAGE}`);
    return 1;
  }
  const client = new HttpClient((BASE_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, ''));
  const path = `/auth/rotate-keys${isCompromised ? '?compromised=true' : ''}`;
  const { status, text } = await client.send({ method: 'POST', path, authorization });
  (status === 200 ? process.stdout : process.stderr).write(`${status === 200 ? '' : `${status} `}${text}\n`);
  return status === 200 ? 0 : 1;
}

function authorizationOf(environment: NodeJS.ProcessEnv): Authorization | undefined {
  const { TOKEN: bearer, BASIC: basic } = environment;
  if (bearer !== undefined) return { bearer };
  if (basic !== undefined) {
    const colon = basic.indexOf(':');
    return { user: basic.slice(0, colon), password: basic.slice(colon + 1) };
  }
  const password = findRootSecret(environment)?.value;
  return password === undefined ? undefined : { user: 'root', password };
}

runTool(main);
