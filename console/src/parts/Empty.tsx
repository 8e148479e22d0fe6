import { type ReactElement, type ReactNode } from 'react';
import { Code } from './Code';

interface Props {
  readonly title: string;
  readonly children?: ReactNode;
  /** A command or request that would add content. */
  readonly command?: string;
}

/** Explains why there is no content, and how to add some. */
export const Empty = ({ title, children, command }: Props): ReactElement => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children !== undefined && <p>{children}</p>}
    {command !== undefined && <Code text={command} />}
  </div>
);
