import { ServiceError } from '../../platform/errors/service-error';
import { type PagePosition } from './search-query';

/** Prints a position as the text that links hold. Its content has no meaning for clients. */
export const printPosition = ({ values, key }: PagePosition): string =>
  Buffer.from(JSON.stringify([key, ...values])).toString('base64url');

/** Maximum length of a position. This server makes none that is longer, since it cuts sort texts at 256 characters. */
const LONGEST_POSITION = 8_192;

/** @throws ServiceError 'invalid' for a text that this server did not make */
export function parsePosition(side: PagePosition['side'], text: string): PagePosition {
  const parsed = text.length > LONGEST_POSITION ? undefined : jsonOf(text);
  const [key, ...values] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
  if (typeof key !== 'number' || !Number.isSafeInteger(key) || !values.every(isValue)) {
    throw new ServiceError(
      'page-link-invalid',
      `_${side} is made by the server for its links to other pages; begin again at the first page.`,
    );
  }
  return { side, key, values };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function isValue(value: unknown): value is string | number | null {
  if (typeof value === 'string') return !value.includes('\0');
  return value === null || (typeof value === 'number' && Number.isFinite(value));
}
