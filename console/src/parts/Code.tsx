import { type ReactElement } from 'react';
import { Copy } from './Copy';

interface Props {
  readonly text: string;
  readonly label?: string;
  /** Tells several of a page apart, for screen readers. */
  readonly name?: string;
}

/** A command or a call to copy. */
export const Code = ({ text, label = 'Copy', name = 'Code' }: Props): ReactElement => (
  <div className="code">
    <pre tabIndex={0} role="region" aria-label={name}>
      <code>{text}</code>
    </pre>
    <Copy text={text} label={label} />
  </div>
);
