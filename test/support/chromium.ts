import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of the browser: `CHROMIUM_PATH`, or one of the usual paths of packages; undefined without a browser. */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** Without a browser, specs fail in CI and are skipped elsewhere; the name of a skipped test says what to install. */
export const mayGoWithoutChromium = (): boolean => chromiumPath() === undefined && process.env.CI === undefined;

export const CHROMIUM_IS_MISSING =
  'No Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM_PATH to one.';
