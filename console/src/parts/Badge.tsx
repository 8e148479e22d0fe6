import { type ReactElement, type ReactNode } from 'react';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

/** A short state. Its text says everything; the color is only an addition. */
export const Badge = ({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactElement => <span className={`badge ${tone}`}>{children}</span>;
