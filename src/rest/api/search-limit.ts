import { type Environment } from '../../platform/config/environment';
import { TimeLimit } from '../../platform/database/time-limit';

/**
 * What page, total and includes of a search may take together; when nothing is asked, as long as one statement may take.
 * @param asked seconds
 */
export function searchLimit(asked: number | undefined, { statementTimeoutSeconds }: Environment): TimeLimit {
  const seconds = asked ?? statementTimeoutSeconds;
  const message = `The search took longer than ${seconds} s. Ask with a larger _timeout, or for less: fewer matches, a smaller _count, _total=none.`;
  return new TimeLimit(seconds, message, asked === undefined);
}
