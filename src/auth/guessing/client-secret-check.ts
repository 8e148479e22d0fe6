import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { addressPrefixOf } from '../../platform/http/address-prefix';
import { RequestContext } from '../../platform/http/request-context';
import { secretHashOf } from '../client/client-secrets.repository';
import { CredentialGuard } from './credential-guard';
import { GuessKeyMaker } from './guess-keys';

/** Above it the secret that was proven first is forgotten. */
const MOST_PROVEN = 10_000;

class WrongSecret extends Error {}

/**
 * Checks secrets of Clients. A secret that this process has judged right is no guess from the same address any more: a Client that calls
 * by HTTP Basic pays nothing, and a guesser beside it cannot slow it down. Elsewhere it counts as a try, or guesses would be free there.
 */
@Injectable()
export class ClientSecretCheck {
  /** Hashes of Client, address and secret. */
  private readonly proven = new Set<string>();

  constructor(
    private readonly guard: CredentialGuard,
    private readonly keys: GuessKeyMaker,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Whether one of `secrets` is the Client's.
   * @param secretHash undefined for a Client without a secret, and for one that is not stored
   * @throws ServiceError 'throttled'
   */
  async isRight(clientId: string, secretHash: Buffer | undefined, secrets: readonly string[]): Promise<boolean> {
    if (secrets.length === 0) return false;
    const isEqual =
      secretHash !== undefined && secrets.some((secret) => timingSafeEqual(secretHash, secretHashOf(secret)));
    const prefix = addressPrefixOf(this.requests.origin?.ip ?? '');
    const use = this.keys.hashOf('proven', clientId, prefix, ...secrets).toString('base64');
    if (isEqual && this.proven.has(use)) return true;
    const judge = (): Promise<void> => (isEqual ? Promise.resolve() : Promise.reject(new WrongSecret()));
    try {
      await this.guard.judge(
        { kind: 'client', name: clientId },
        secrets,
        judge,
        (error) => error instanceof WrongSecret,
      );
    } catch (error) {
      if (error instanceof WrongSecret) return false;
      throw error;
    }
    this.proven.add(use);
    const [first] = this.proven;
    if (this.proven.size > MOST_PROVEN && first !== undefined) this.proven.delete(first);
    return true;
  }
}
