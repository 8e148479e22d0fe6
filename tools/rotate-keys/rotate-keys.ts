import { findRootSecret } from '../demo/demo-secrets';
import { readOptions } from '../options';
import { type Authorization, HttpClient } from '../http-client';

const USAGE = `npm run rotate-keys [-- --compromised]

Publishes a new signing key, which signs after SVC_KEY_OVERLAP_SECONDS, and withdraws keys whose last token has expired.
--compromised: a new key signs at once, all others are withdrawn, and the Sessions of their tokens are closed.
Server: BASE_URL or PORT. Credentials: TOKEN, BASIC=id:secret, or the Client "root" as npm run demo finds it.
`;

async function main(): Promise<number> {
  const { values } = readOptions(USAGE, { options: { compromised: { type: 'boolean', default: false } } });
  const { BASE_URL, PORT = '3000' } = process.env; // as the server reads them
  const authorization = authorizationOf(process.env);
  if (authorization === undefined) {
    process.stderr.write(`No credentials: set TOKEN, or BASIC to id:secret.\n\n${USAGE}`);
    return 1;
  }
  const client = new HttpClient((BASE_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, ''));
  const path = `/auth/rotate-keys${values.compromised ? '?compromised=true' : ''}`;
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

main().then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
