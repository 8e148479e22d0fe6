import { isDeepStrictEqual } from 'node:util';
import { type Body, type Period, type WrittenResources } from './written-resources';

/** A request of a reader, with everything that determines its correct response. */
export interface Question {
  readonly path: string;
  readonly kind: 'read' | 'search' | 'count';
  /** For a read, the id of the resource; for a search or count, the key that all matches share. */
  readonly key: string;
  readonly matches: (body: Body) => boolean;
  /** Selects the bodies that the caller may see; undefined: all. */
  readonly mayBeSeen?: (body: Body) => boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** `warned`: the response itself says that it may be incomplete. `refused`: 503. */
export type Verdict = 'right' | 'warned' | 'refused' | { readonly fault: string };

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: Body }[];
}

/**
 * Compares a response with the written resources. A response with a warning may miss matches and contain others, but
 * never a resource that the caller may not see.
 */
export function judgeAnswer(written: WrittenResources, question: Question, period: Period, answer: Answer): Verdict {
  const { status, text } = answer;
  if (status === 503) return 'refused';
  if (question.kind === 'read') return judgeRead(written, question, period, answer);
  if (status !== 200) return { fault: `status ${status}` };
  const { total, entry = [] } = JSON.parse(text) as Bundle;
  const bodies = entry
    .map(({ resource }) => resource)
    .filter(({ resourceType }) => resourceType !== 'OperationOutcome');
  const isWarned = bodies.length < entry.length;
  const isMatch = (body: Body): boolean => question.matches(body) && question.mayBeSeen?.(body) !== false;
  const isAllowed = isWarned ? (body: Body): boolean => question.mayBeSeen?.(body) !== false : isMatch;
  for (const body of bodies) {
    const versions = written.possible(body.id, period).filter(isAllowed);
    if (!versions.some((version) => isSame(version, body))) return { fault: `${body.id} is no match` };
  }
  const ids = new Set(bodies.map(({ id }) => id));
  if (ids.size < bodies.length) return { fault: 'a resource twice' };
  if (isWarned) return 'warned';
  const candidates = [...written.idsWith(question.key)].map((id) => ({ id, versions: written.possible(id, period) }));
  const certain = candidates.filter(({ versions }) => versions.every(isMatch));
  const possible = candidates.filter(({ versions }) => versions.some(isMatch));
  const count = question.kind === 'count' ? (total ?? NaN) : bodies.length;
  const missing = question.kind === 'count' ? undefined : certain.find(({ id }) => !ids.has(id));
  if (missing !== undefined) return { fault: `${missing.id} is missing` };
  if (count >= certain.length && count <= possible.length && (total === undefined || total === count)) return 'right';
  return { fault: `total ${total}, ${count} found, ${certain.length} to ${possible.length} stored` };
}

function judgeRead(
  written: WrittenResources,
  { key: id, mayBeSeen = () => true }: Question,
  period: Period,
  { status, text }: Answer,
): Verdict {
  const versions = written.possible(id, period);
  if (status === 404) return versions.every(mayBeSeen) ? { fault: `${id} is hidden` } : 'right';
  if (status !== 200) return { fault: `status ${status}` };
  const body = JSON.parse(text) as Body;
  if (versions.some((version) => isSame(version, body) && mayBeSeen(version))) return 'right';
  return { fault: `${id} is another version, or hidden` };
}

/** Ignores `meta`, which the server adds. */
const isSame = (version: Body, { meta, ...stored }: Body): boolean =>
  meta !== undefined && isDeepStrictEqual(version, stored);
