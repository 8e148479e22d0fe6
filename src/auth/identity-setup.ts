import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ServerSetup } from '../platform/database/server-setup';
import { ResourceReader } from '../resource/resource-reader';
import { FirstIdentities } from './first-identities';
import { SigningKeys } from './keys/signing-keys.repository';

/** Gives a new database its first Client, User and policies, so that somebody can log in. */
@Injectable()
export class IdentitySetup implements OnApplicationBootstrap {
  private readonly logger = new Logger(IdentitySetup.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly identities: FirstIdentities,
    private readonly keys: SigningKeys,
    private readonly reader: ResourceReader,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.setup.once('signing-key', async () => {
      await this.keys.create();
    });
    await this.setup.once('identities', () => this.identities.store());
    await this.setup.once('trial-policy', () => this.identities.storeTrialPolicy());
    if ((await this.reader.find('AccessPolicy', 'trial')) !== undefined) {
      this.logger.warn(
        'AccessPolicy/trial lets every authenticated caller do everything. To end that: DELETE /AccessPolicy/trial',
      );
    }
  }
}
