import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of this machine: `CHROMIUM_PATH`, or the usual paths of packages; undefined without one. */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** Without a browser, specs fail in CI and are skipped elsewhere; the name of a skipped test says what to install. */
export const mayGoWithoutChromium = (): boolean => chromiumPath() === undefined && process.env.CI === undefined;

export const CHROMIUM_IS_MISSING =
  'No Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM_PATH to one.';
