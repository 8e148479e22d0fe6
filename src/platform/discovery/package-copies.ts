import { dirname } from 'node:path';
import { StartError } from '../errors/start-error';
import { packageFile, softwareVersion } from '../software-version';

/** Versions of this package by the folders that this process loaded it from. */
type Copies = Map<string, string>;

const COPIES = Symbol.for('svc-health-server.copies');

const shared = globalThis as { [COPIES]?: Copies };
const copies: Copies = shared[COPIES] ?? new Map<string, string>();
shared[COPIES] = copies;
copies.set(dirname(packageFile()), softwareVersion());

/**
 * Each copy has its own decorators and classes, so this server would not see what a module registers through another
 * copy.
 * @throws StartError with the folders, which show the packages that contain a copy
 */
export function assertOneCopy(): void {
  if (copies.size === 1) return;
  const listed = [...copies].map(([folder, version]) => `${version} in ${folder}`).join(', ');
  throw new StartError(
    `svc-health-server is loaded more than once: ${listed}. Modules that are built against another copy would not be seen. Install one version for all packages (npm ls svc-health-server).`,
  );
}
