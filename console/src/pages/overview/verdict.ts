import { type ServerStatus } from 'svc-health-client';
import { type Tone } from '../../parts/Badge';

/** The state of the server, which is the state of its worst part. */
export interface Verdict {
  readonly tone: Tone;
  readonly state: string;
  readonly text: string;
  /** The address of the page that explains that part. */
  readonly href?: string;
}

export function verdictOf({ health, delivery }: Pick<ServerStatus, 'health' | 'delivery'>): Verdict {
  if (health.status === 'fail') return { tone: 'bad', state: 'Failing', text: health.description };
  const href = '#/destinations';
  if (delivery?.isHeld === true) return { tone: 'warn', state: 'Warning', text: 'All webhooks are held', href };
  if (delivery !== undefined && delivery.failing > 0) {
    const { failing, destinations } = delivery;
    const text = `${failing} of ${destinations} webhooks ${failing === 1 ? 'fails' : 'fail'}`;
    return { tone: 'warn', state: 'Warning', text, href };
  }
  if (health.status === 'warn') return { tone: 'warn', state: 'Warning', text: health.description };
  return { tone: 'good', state: 'Healthy', text: health.description };
}
