import { SvcClient, SvcError } from 'svc-health-client';
import { noticedFetch } from './reachability';
import { serverAddress, type Session } from './session';

export type SignedIn = Omit<Session, 'signOut'>;

export interface Credentials {
  readonly userName: string;
  readonly password: string;
  readonly code?: string;
}

export const CLIENT_ID = 'console';

/**
 * @param onEnded called if the server refuses to renew the tokens
 */
export async function signIn({ userName, password, code }: Credentials, onEnded: () => void): Promise<SignedIn> {
  let isIn = false;
  const client = await SvcClient.login(
    {
      baseUrl: serverAddress(),
      fetch: async (input, init) => {
        const response = await noticedFetch(input, init);
        if (isIn && response.status === 400 && input.endsWith('/auth/token')) onEnded();
        return response;
      },
    },
    { clientId: CLIENT_ID, username: userName, password, ...(code === undefined ? {} : { totp: code }) },
  );
  isIn = true;
  const { id = userName, name, email } = await client.user();
  return { client, userId: id, userName: name?.formatted ?? email ?? userName, loginName: userName };
}

export type SignInFault =
  | { readonly kind: 'code' }
  | { readonly kind: 'client' }
  | { readonly kind: 'said'; readonly text: string; readonly isRefused?: boolean };

/** Turns an error of the sign-in into the fault that the form shows. */
export function faultOf(error: unknown): SignInFault {
  if (!(error instanceof SvcError)) return { kind: 'said', text: 'The server cannot be reached.' };
  const code = (error.body as { readonly error?: unknown } | null)?.error;
  if (error.message === 'two-factor required') return { kind: 'code' };
  if (code === 'invalid_client' || code === 'unauthorized_client') return { kind: 'client' };
  const wait = error.retryAfterSeconds;
  const isRefused = code === 'invalid_grant';
  return {
    kind: 'said',
    isRefused,
    text: wait === undefined ? error.message : `${error.message} Try again in ${wait} s.`,
  };
}
