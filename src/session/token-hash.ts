import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits: not guessable, so a fast hash is enough to store it. */
export const newOpaqueToken = (): string => randomBytes(32).toString('base64url');

/** Stored in place of a token, so that a leaked database opens nothing. */
export const tokenHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
