import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of this machine: `CHROMIUM_PATH`, or where packages put it; undefined when there is none. */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** In CI a browser that is missing fails the spec; elsewhere the name of the skipped test says what to install. */
export const mayGoWithoutChromium = (): boolean => chromiumPath() === undefined && process.env.CI === undefined;

export const CHROMIUM_IS_MISSING =
  'No Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM_PATH to one.';
