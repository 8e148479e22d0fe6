import { type ReactElement } from 'react';
import { Badge, type Tone } from '../../parts/Badge';

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  amended: 'accent',
  'in-amendment': 'warn',
  canceled: 'bad',
};

export const Status = ({ status }: { readonly status: string }): ReactElement =>
  status === '' ? <></> : <Badge tone={TONES[status] ?? 'neutral'}>{status}</Badge>;
