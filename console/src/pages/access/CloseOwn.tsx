import { type ReactElement } from 'react';
import { Dialog } from '../../parts/Dialog';

interface Props {
  readonly onSure: () => void;
  readonly onClose: () => void;
}

/** Asks for a confirmation before one of the reader's own Sessions is closed: it may be the Session of this page. */
export const CloseOwn = ({ onSure, onClose }: Props): ReactElement => (
  <Dialog title="Close a session of your own?" onClose={onClose}>
    <p>You have this session from the console, perhaps from this page. Then you would have to sign in again.</p>
    <div className="row">
      <button type="button" className="button danger" onClick={onSure}>
        Close it
      </button>
      <button type="button" className="button" onClick={onClose}>
        Keep it
      </button>
    </div>
  </Dialog>
);
