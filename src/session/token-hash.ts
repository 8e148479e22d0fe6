import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits cannot be guessed, so a fast hash protects them in storage. */
export const newOpaqueToken = (): string => randomBytes(32).toString('base64url');

/** Stored in place of a token, so that a leaked database grants no access. */
export const tokenHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
