import { type ReactElement } from 'react';
import { Copy } from './Copy';

interface Props {
  readonly text: string;
  readonly label?: string;
  /** A label for screen readers, which distinguishes several on one page. */
  readonly name?: string;
}

/** A command or request to copy. */
export const Code = ({ text, label = 'Copy', name = 'Code' }: Props): ReactElement => (
  <div className="code">
    <pre tabIndex={0} role="region" aria-label={name}>
      <code>{text}</code>
    </pre>
    <Copy text={text} label={label} />
  </div>
);
