/**
 * Longer inputs only cost time: they are refused before they are hashed. NIST SP 800-63B asks for at least 64
 * characters, which are at most 256 bytes.
 */
export const MAX_PASSWORD_BYTES = 1024;

/** Whether a text can be a stored password: at login, and for the current one of a change. */
export const isPasswordLength = (text: string): boolean => text !== '' && Buffer.byteLength(text) <= MAX_PASSWORD_BYTES;

/**
 * A password as it is hashed: keyboards differ in how they write one and the same text. The OpaqueString profile of
 * RFC 8265 (section 4.2.2): spaces of any width are one, then NFC. Not NFKC, which takes ² for 2.
 */
export const normalisedPassword = (text: string): string => text.replace(/\p{Zs}/gu, ' ').normalize('NFC');

/** In code points, as NIST SP 800-63B counts. */
export const passwordLength = (text: string): number => [...normalisedPassword(text)].length;
