import { type ReactElement } from 'react';
import { Copy } from './Copy';

/** A command or a call to copy. */
export const Code = ({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): ReactElement => (
  <div className="code">
    <pre tabIndex={0} role="region" aria-label="Code">
      <code>{text}</code>
    </pre>
    <Copy text={text} label={label} />
  </div>
);
