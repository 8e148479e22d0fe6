import { type ReactElement, type ReactNode } from 'react';
import { Code } from './Code';

interface Props {
  readonly title: string;
  readonly children?: ReactNode;
  /** The one command or call that would fill the page. */
  readonly command?: string;
}

/** Says why nothing is here, and what would change that. */
export const Empty = ({ title, children, command }: Props): ReactElement => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children !== undefined && <p>{children}</p>}
    {command !== undefined && <Code text={command} />}
  </div>
);
