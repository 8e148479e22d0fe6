import { createHash } from 'node:crypto';
import { Html } from '../../platform/http/html';
import { STYLE } from './amendments-style';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing is loaded, run, framed or sent: what stands in the values of a record can do nothing. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export const styleElement = (): Html => new Html(`<style>${STYLE}</style>`);
