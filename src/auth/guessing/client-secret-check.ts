import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { ClientSecrets } from '../client/client-secrets.repository';
import { CredentialGuard } from './credential-guard';
import { GuessKeyMaker } from './guess-keys';
import { ProvenSecrets } from './proven-secrets';

class WrongSecret extends Error {}

/** Checks secrets of Clients; those that have not proven right before are counted as tries. */
@Injectable()
export class ClientSecretCheck {
  private readonly proven = new ProvenSecrets();
  private readonly judging = new Map<string, Promise<boolean>>();

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
    return this.judgeOnce(clientId, secrets, pair);
  }

  /** Calls that bring the same secret at the same time are one try. */
  private judgeOnce(clientId: string, secrets: readonly string[], pair: Buffer): Promise<boolean> {
    const key = pair.toString('base64');
    const known = this.judging.get(key);
    // The client that began the try may disconnect: the next one begins it again.
    if (known !== undefined)
      return known.catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === 'busy') return this.judgeOnce(clientId, secrets, pair);
        throw error;
      });
    const judged = this.guess(clientId, secrets, pair).finally(() => this.judging.delete(key));
    this.judging.set(key, judged);
    return judged;
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
