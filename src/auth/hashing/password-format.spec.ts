import { describe, expect, it } from '@jest/globals';
import { claimsToBeHash, DECOY, isCurrentFormat, passwordFormatOf } from './password-format';

const phc = (parameters: string): string => `$argon2id$v=19$${parameters}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const scrypt = (parameters: string): string => `$s0$${parameters}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`;

describe(passwordFormatOf, () => {
  it('reads argon2id hashes, and scrypt hashes with their parameters', () => {
    expect([passwordFormatOf(DECOY), passwordFormatOf(scrypt('f0801'))]).toEqual([
      { kind: 'argon2id', stored: DECOY },
      expect.objectContaining({ kind: 'scrypt', cost: 32_768, blockSize: 8, parallelism: 1 }),
    ]);
  });

  it.each([
    phc('m=4194304,t=2,p=1'),
    phc('m=65537,t=2,p=1'),
    phc('m=19456,t=11,p=1'),
    phc('m=19456,t=2,p=5'),
    phc('m=7,t=2,p=1'),
    phc('m=19456,t=0,p=1'),
    phc('m=19456,t=2,p=0'),
    phc('m=19456,t=2,p=1').replace('argon2id', 'argon2i'),
    phc('m=19456,t=2,p=1').replace('v=19', 'v=16'),
    `${phc('m=19456,t=2,p=1')}\n`,
    scrypt('120801'),
    scrypt('90801'),
    scrypt('f0001'),
    scrypt('f0800'),
    scrypt('fff'),
    '$s0$f0801$short$short',
    '$2b$10$abcdefghijklmnopqrstuv',
    'password',
    '',
  ])('refuses %j', (stored) => {
    expect(passwordFormatOf(stored)).toBeUndefined();
  });
});

it('distinguishes hashes in the current format from imported hashes, and hashes from passwords', () => {
  expect([isCurrentFormat(DECOY), isCurrentFormat(phc('m=19456,t=3,p=1')), isCurrentFormat(scrypt('f0801'))]).toEqual([
    true,
    false,
    false,
  ]);
  expect([claimsToBeHash('$argon2id$nonsense'), claimsToBeHash('$s0$'), claimsToBeHash('$5 per hour')]).toEqual([
    true,
    true,
    false,
  ]);
});
