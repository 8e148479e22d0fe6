import { createContext, useContext } from 'react';
import { type SvcClient } from 'svc-health-client';

/** The signed-in User. Tokens are only in the client's memory: a reload or a closed tab forgets them. */
export interface Session {
  readonly client: SvcClient;
  readonly userId: string;
  /** The display name. */
  readonly userName: string;
  /** The user name as typed at sign-in. */
  readonly loginName: string;
  readonly signOut: () => Promise<void>;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('Nobody is signed in');
  return session;
}

/** Calls the server as the signed-in User. Each sign-in creates a new client. */
export const useClient = (): SvcClient => useSession().client;

/** The address of the server: the parent path of the console. */
export const serverAddress = (): string => new URL('..', document.baseURI).href.replace(/\/$/, '');
