import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine; `SVC_TEST_BROWSER` names another one. */
export const BROWSER_PATH: string | undefined = [process.env.SVC_TEST_BROWSER ?? '', ...PLACES].find(isProgram);

/** Specs that need a browser are left out where there is none, but in CI, where they fail and say so. */
export const canSkipBrowser = BROWSER_PATH === undefined && process.env.CI !== 'true';

export function launchBrowser(): Promise<Browser> {
  if (BROWSER_PATH === undefined) {
    throw new Error(
      `No browser: install Debian's package "chromium" (apt-get install --no-install-recommends chromium), or name one in SVC_TEST_BROWSER. Looked for ${PLACES.join(', ')}`,
    );
  }
  // Root, as in containers, has no sandbox; the only pages are our own.
  return chromium.launch({ executablePath: BROWSER_PATH, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
