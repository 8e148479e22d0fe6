import { createHash, randomBytes } from 'node:crypto';

/** Makes an opaque token of 256 random bits. It cannot be guessed, so a fast hash protects it in storage. */
export const newOpaqueToken = (): string => randomBytes(32).toString('base64url');

/** The hash of a token. It is stored instead of the token, so that a leaked database grants no access. */
export const tokenHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
