import { Injectable } from '@nestjs/common';
import { ClientSecrets } from '../client-secrets.repository';
import { CredentialGuard } from './credential-guard';
import { GuessKeyMaker } from './guess-keys';
import { ProvenSecrets } from './proven-secrets';

class WrongSecret extends Error {}

/** Checks secrets of Clients; those that have not proven right before are counted as tries. */
@Injectable()
export class ClientSecretCheck {
  private readonly proven = new ProvenSecrets();

  constructor(
    private readonly secrets: ClientSecrets,
    private readonly guard: CredentialGuard,
    private readonly keys: GuessKeyMaker,
  ) {}

  /**
   * Whether one of `secrets` is the Client's; false for a Client without one, or that is not stored.
   * @throws ServiceError 'throttled'
   */
  async isRight(clientId: string, secrets: readonly string[]): Promise<boolean> {
    if (secrets.length === 0) return false;
    const pair = this.keys.hashOf('proven', clientId, ...secrets);
    if (this.proven.has(pair)) {
      if (await this.secrets.isRight(clientId, secrets)) return true;
      this.proven.delete(pair);
    }
    return this.guess(clientId, secrets, pair);
  }

  private async guess(clientId: string, secrets: readonly string[], pair: Buffer): Promise<boolean> {
    const judge = async (): Promise<void> => {
      if (!(await this.secrets.isRight(clientId, secrets))) throw new WrongSecret();
    };
    try {
      await this.guard.judge('client', clientId, judge, (error) => error instanceof WrongSecret);
      this.proven.add(pair);
      return true;
    } catch (error) {
      if (error instanceof WrongSecret) return false;
      throw error;
    }
  }
}
