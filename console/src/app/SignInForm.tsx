import { type FormEvent, type ReactElement, useId, useState } from 'react';
import { Code } from '../parts/Code';
import { TextField } from '../parts/Field';
import { serverAddress } from './session';
import { CLIENT_ID, faultOf, type SignedIn, signIn, type SignInFault } from './sign-in';

export type { SignedIn };

const ADD_CLIENT = `curl -u root:SECRET -X PUT ADDRESS/Client/${CLIENT_ID} -H 'Content-Type: application/json' -d '{"grant_types": ["password"], "auth": {"password": {"token_expiration": 600, "refresh_token": true}}}'`;

interface Props {
  readonly userName?: string;
  readonly onEnded: () => void;
  readonly onSignedIn: (session: SignedIn) => void;
  /** Called by the button "Sign out", which only the dialog of an ended Session shows. */
  readonly onLeave?: () => void;
}

export function SignInForm({ userName: known = '', onEnded, onSignedIn, onLeave }: Props): ReactElement {
  const [userName, setUserName] = useState(known);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [fault, setFault] = useState<SignInFault>();
  const [isBusy, setIsBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);
  const faultId = useId();

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setIsBusy(true);
    setFault(undefined);
    try {
      onSignedIn(await signIn({ userName, password, ...(needsCode ? { code } : {}) }, onEnded));
    } catch (error) {
      const found = faultOf(error);
      if (found.kind === 'code') setNeedsCode(true);
      else setFault(found);
      setIsBusy(false);
    }
  };

  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} aria-describedby={faultId}>
      <TextField
        label="User name or email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={known === ''}
        required
        value={userName}
        onChange={setUserName}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        data-focus
        required
        value={password}
        onChange={setPassword}
      />
      {needsCode && (
        <TextField
          label="One-time code"
          hint="Of your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          required
          value={code}
          onChange={setCode}
        />
      )}
      <div id={faultId} role="alert">
        {fault?.kind === 'said' && (
          <>
            <p className="sign-in-fault">{fault.text}</p>
            {fault.isRefused === true && (
              <p className="fine">
                The first User is <code>admin</code>. Its password is in <code>data/credentials.json</code> of the
                server, where the database is the embedded one.
              </p>
            )}
          </>
        )}
        {fault?.kind === 'client' && (
          <>
            <p className="sign-in-fault">
              This server has no Client <code>{CLIENT_ID}</code> for the password grant. An operator adds it by one
              call:
            </p>
            <Code text={ADD_CLIENT.replace('ADDRESS', serverAddress())} />
          </>
        )}
      </div>
      <div className="row">
        <button type="submit" className="button primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        {onLeave !== undefined && (
          <button type="button" className="button quiet" onClick={onLeave}>
            Sign out
          </button>
        )}
      </div>
    </form>
  );
}
