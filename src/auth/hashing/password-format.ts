/** A scrypt hash (RFC 7914) of a compatible server: `$s0$<parameters>$<salt>$<key>`. */
export interface ScryptHash {
  readonly kind: 'scrypt';
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** The algorithm and parameters of a stored hash. */
export type PasswordFormat = { readonly kind: 'argon2id'; readonly stored: string } | ScryptHash;

/**
 * Parameters of new hashes. OWASP Password Storage Cheat Sheet: argon2id with at least 19 MiB, 2 iterations, 1 lane.
 */
export const ARGON2_PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * The beginning of all hashes that this server makes. A password whose stored hash begins differently is hashed again
 * at the next login.
 */
const CURRENT = `$argon2id$v=19$m=${ARGON2_PARAMETERS.memoryCost},t=${ARGON2_PARAMETERS.timeCost},p=${ARGON2_PARAMETERS.parallelism}$`;

/** A hash that no password matches. Checking it costs as much as checking a real hash. */
export const DECOY = `${CURRENT}${'A'.repeat(22)}$${'A'.repeat(43)}`;

export const isCurrentFormat = (stored: string): boolean => stored.startsWith(CURRENT);

/**
 * Limits of imported hashes, so that checking one costs little more than checking a hash of this server. For argon2id:
 * memory in KiB, iterations, lanes. For scrypt: the product N·r·p.
 */
const MAX_ARGON2 = { memory: 65_536, iterations: 10, lanes: 4 };
const MAX_SCRYPT_BLOCKS = 2 ** 17 * 8;

/**
 * Whether a text sent as a password looks like a hash. Such a text is imported as a hash or refused, never used as a
 * password.
 */
export const claimsToBeHash = (text: string): boolean => text.startsWith('$argon2') || text.startsWith('$s0$');

/** Parses a hash. Returns undefined if it is malformed, is of another algorithm, or would be too costly to check. */
export function passwordFormatOf(stored: string): PasswordFormat | undefined {
  return stored.startsWith('$s0$') ? scryptHashOf(stored) : argon2idHashOf(stored);
}

/** A PHC string: a salt of 8 to 48 bytes and a hash of 16 to 64 bytes, in base64 without padding. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;

function argon2idHashOf(stored: string): PasswordFormat | undefined {
  const [, memory, iterations, lanes] = (PHC.exec(stored) ?? []).map(Number);
  if (memory === undefined || iterations === undefined || lanes === undefined) return undefined;
  const isBounded =
    isWithin(1, lanes, MAX_ARGON2.lanes) &&
    isWithin(1, iterations, MAX_ARGON2.iterations) &&
    isWithin(8 * lanes, memory, MAX_ARGON2.memory);
  return isBounded ? { kind: 'argon2id', stored } : undefined;
}

const isWithin = (least: number, value: number, most: number): boolean => value >= least && value <= most;

const SCRYPT = /^\$s0\$([0-9a-f]{5,6})\$([A-Za-z0-9+/]{11,64}={0,2})\$([A-Za-z0-9+/]{22,86}={0,2})$/;

/** Parses a scrypt hash. Its parameters are one hexadecimal number: log2(N) << 16 | r << 8 | p. */
function scryptHashOf(stored: string): ScryptHash | undefined {
  const [, parameters = '', salt = '', key = ''] = SCRYPT.exec(stored) ?? [];
  if (key === '') return undefined;
  const packed = parseInt(parameters, 16);
  const [logarithm, blockSize, parallelism] = [packed >> 16, (packed >> 8) & 0xff, packed & 0xff];
  const cost = 2 ** logarithm;
  const isBounded =
    logarithm >= 10 && blockSize >= 1 && parallelism >= 1 && cost * blockSize * parallelism <= MAX_SCRYPT_BLOCKS;
  if (!isBounded) return undefined;
  return {
    kind: 'scrypt',
    cost,
    blockSize,
    parallelism,
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}
