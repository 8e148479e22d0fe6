import { type ReactElement, type ReactNode } from 'react';

interface Props {
  readonly title: string;
  /** A line below the title. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** The top of a page: its only `h1`. */
export const PageHeader = ({ title, children, actions }: Props): ReactElement => (
  <div className="page-header">
    <div>
      <h1>{title}</h1>
      {children !== undefined && <div className="page-note">{children}</div>}
    </div>
    {actions !== undefined && <div className="actions">{actions}</div>}
  </div>
);
