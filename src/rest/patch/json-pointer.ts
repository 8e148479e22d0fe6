import { malformed, excerpt } from './tree-patch';

/**
 * Splits a JSON Pointer (RFC 6901) into unescaped steps. The pointer to the whole document has no steps.
 * @throws ServiceError 'invalid' for a malformed pointer
 */
export function parsePointer(text: string): readonly string[] {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) {
    throw malformed(`"${excerpt(text)}" is no JSON Pointer: it begins with "/", and "~" stands as ~0, "/" as ~1.`);
  }
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Reads an array index by RFC 6901, section 4: digits without leading zeros. Undefined for other texts. */
export const indexOf = (step: string): number | undefined =>
  /^(0|[1-9]\d{0,9})$/.test(step) ? Number(step) : undefined;
