import { type ReactElement, type ReactNode } from 'react';

interface Props {
  readonly name: ReactNode;
  readonly children: ReactNode;
}

/** A label with its value in a `dl`; nothing without a value. */
export const Fact = ({ name, children }: Props): ReactElement | null =>
  children === undefined || children === '' ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
