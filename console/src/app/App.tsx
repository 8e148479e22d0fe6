import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Dialog } from '../parts/Dialog';
import { makeQueryClient } from './queries';
import { type Session, SessionContext } from './session';
import { Shell } from './Shell';
import { type SignedIn, SignInForm } from './SignInForm';
import { SignInPage } from './SignInPage';

/**
 * The page for the signed-in User. If a Session ends during work, a dialog asks for the password, and the page stays as
 * it is.
 */
export function App(): ReactElement {
  const [signedIn, setSignedIn] = useState<SignedIn>();
  const [isOver, setIsOver] = useState(false);
  const [farewell, setFarewell] = useState<string>();
  const onEnded = useCallback(() => {
    setIsOver(true);
  }, []);
  const queries = useMemo(() => makeQueryClient(onEnded), [onEnded]);

  const enter = (next: SignedIn): void => {
    // Data shown to one User must not remain for another.
    if (next.userId !== signedIn?.userId) queries.clear();
    setSignedIn(next);
    setIsOver(false);
    setFarewell(undefined);
  };

  const session = useMemo<Session | undefined>(
    () =>
      signedIn === undefined
        ? undefined
        : {
            ...signedIn,
            signOut: async () => {
              let said = 'You are signed out.';
              try {
                await signedIn.client.logout();
              } catch (error) {
                said = `The tokens are forgotten here, but the server did not close the Session: ${String(error)}`;
              }
              queries.clear();
              setIsOver(false);
              setSignedIn(undefined);
              setFarewell(said);
            },
          },
    [signedIn, queries],
  );

  const before = useRef(signedIn);
  useEffect(() => {
    if (before.current?.userId === signedIn?.userId && signedIn !== undefined)
      void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
    before.current = signedIn;
  }, [signedIn, queries]);

  if (session === undefined) return <SignInPage note={farewell} onEnded={onEnded} onSignedIn={enter} />;
  return (
    <QueryClientProvider client={queries}>
      <SessionContext value={session}>
        <Shell key={session.userId} />
        {isOver && (
          <Dialog title="Your session has ended" isRequired>
            <p>Sign in to go on. The page behind this dialog keeps what you entered.</p>
            <SignInForm
              userName={session.loginName}
              onEnded={onEnded}
              onSignedIn={enter}
              onLeave={() => void session.signOut()}
            />
          </Dialog>
        )}
      </SessionContext>
    </QueryClientProvider>
  );
}
