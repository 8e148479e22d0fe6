import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { SessionTokens } from '../../session/session-tokens.repository';
import { SigningKeys } from './signing-keys.repository';

export interface RotationResult {
  /** Id of the newest key. The key is already published, and signs from `signsFrom` on. */
  readonly kid: string;
  readonly signsFrom: string;
  readonly isNew: boolean;
  /** Ids of the keys that this call withdrew from publication. */
  readonly removed: readonly string[];
}

/**
 * Changes the signing key so that no valid token is refused. A new key is published for a while before it signs. An old
 * key stays published until its last token expires. Each step is one transaction, so a crash leaves no partial change.
 * If a new key does not sign yet, a repeated call returns that key and creates none.
 */
@Injectable()
export class KeyRotation {
  private readonly logger = new Logger(KeyRotation.name);

  constructor(
    private readonly keys: SigningKeys,
    private readonly tokens: SessionTokens,
    private readonly unitOfWork: UnitOfWork,
    private readonly environment: Environment,
  ) {}

  async rotate(): Promise<RotationResult> {
    const pair = await this.keys.generate();
    return this.unitOfWork.run(async () => {
      await this.keys.lock();
      const waiting = await this.keys.next();
      const { kid, signsFrom } = waiting ?? (await this.keys.add(pair, this.environment.keyOverlapSeconds));
      const removed = await this.keys.removeSuperseded(await this.tokens.kidsOfLiveTokens());
      if (waiting === undefined) this.logger.log({ event: 'signing key published', kid, signsFrom });
      return { kid, signsFrom: signsFrom.toISOString(), isNew: waiting === undefined, removed };
    });
  }

  /**
   * Replaces keys that were disclosed. A new key signs at once, all other keys are withdrawn, and the tokens signed
   * with them end. The sweep then closes their Sessions, like those of expired tokens. The tokens end after the
   * transaction of the keys: an exchange of a refresh token locks its Session, then the keys. They also end if the
   * client disconnects meanwhile. If the server crashes between the two, a repeated call ends the tokens.
   */
  async replaceAll(): Promise<RotationResult> {
    const pair = await this.keys.generate();
    const result = await this.unitOfWork.run(async () => {
      await this.keys.lock();
      const { kid, signsFrom } = await this.keys.add(pair);
      const removed = await this.keys.keepOnly(kid);
      return { kid, signsFrom: signsFrom.toISOString(), isNew: true, removed };
    });
    await this.unitOfWork.outside(() => this.unitOfWork.alone(() => this.tokens.expireOthersThan(result.kid)));
    this.logger.warn({ event: 'signing keys withdrawn', ...result });
    return result;
  }
}
