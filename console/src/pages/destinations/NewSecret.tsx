import { type ReactElement } from 'react';
import { Code } from '../../parts/Code';
import { Dialog } from '../../parts/Dialog';

interface Props {
  readonly secret: string;
  /** Whether the previous secret still signs, too. */
  readonly isRotating?: boolean;
  readonly onKept: () => void;
}

/** Shows a secret once, for the receiver. */
export const NewSecret = ({ secret, isRotating = false, onKept }: Props): ReactElement => (
  <Dialog title="The new secret" isRequired>
    <p>Give it to the receiver now: it is not shown again. {isRotating && 'Until you end the rotation both sign.'}</p>
    <Code text={secret} label="Copy" />
    <div className="row">
      <button type="button" className="button primary" onClick={onKept}>
        I have kept it
      </button>
    </div>
  </Dialog>
);
