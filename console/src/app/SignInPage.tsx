import { type ReactElement, useEffect } from 'react';
import { Mark } from './Mark';
import { type SignedIn, SignInForm } from './SignInForm';

interface Props {
  readonly note: string | undefined;
  readonly onEnded: () => void;
  readonly onSignedIn: (session: SignedIn) => void;
}

export function SignInPage({ note, onEnded, onSignedIn }: Props): ReactElement {
  useEffect(() => {
    document.title = 'Sign in · Console';
  }, []);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="brand">
          <Mark />
          <span>svc-health-server at {new URL(document.baseURI).host}</span>
        </div>
        <h1>Sign in to the console</h1>
        {note !== undefined && <p role="status">{note}</p>}
        <SignInForm onEnded={onEnded} onSignedIn={onSignedIn} />
        <p className="fine">For safety the console forgets you when this page is reloaded or closed.</p>
      </div>
    </main>
  );
}
