import { dirname } from 'node:path';
import { StartError } from '../errors/start-error';
import { packageFile, softwareVersion } from '../software-version';

/** The loaded copies of this package: the version of each, by its folder. */
type Copies = Map<string, string>;

const COPIES = Symbol.for('svc-health-server.copies');

const shared = globalThis as { [COPIES]?: Copies };
const copies: Copies = shared[COPIES] ?? new Map<string, string>();
shared[COPIES] = copies;
copies.set(dirname(packageFile()), softwareVersion());

/**
 * Checks that the process has loaded only one copy of this package. Each copy has its own decorators and classes, so
 * the server would not find handlers that a module registers through another copy.
 * @throws StartError with the folders of the copies, which show which packages contain one
 */
export function assertOneCopy(): void {
  if (copies.size === 1) return;
  const listed = [...copies].map(([folder, version]) => `${version} in ${folder}`).join(', ');
  throw new StartError(
    `svc-health-server is loaded more than once: ${listed}. Modules that are built against another copy would not be seen. Install one version for all packages (npm ls svc-health-server).`,
  );
}
