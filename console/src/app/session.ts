import { createContext, useContext } from 'react';
import { type SvcClient } from 'svc-health-client';

/** The signed-in User. Tokens are in the client's memory alone: a reload or a closed tab forgets them. */
export interface Session {
  readonly client: SvcClient;
  readonly userId: string;
  /** The name to show. */
  readonly userName: string;
  /** The name that was typed. */
  readonly loginName: string;
  readonly signOut: () => Promise<void>;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('Nobody is signed in');
  return session;
}

/** Calls the server as the signed-in User. After another sign-in of the same User it is another client. */
export const useClient = (): SvcClient => useSession().client;

/** The address of the server: the console is one step below it. */
export const serverAddress = (): string => new URL('..', document.baseURI).href.replace(/\/$/, '');
