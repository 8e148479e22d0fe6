import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { ServerSetup } from '../../platform/database/server-setup';
import { StartError } from '../../platform/errors/start-error';
import { readJson } from '../../platform/json/read-json';
import { ResourceDraft } from '../../model/resource-draft';
import { ResourceReader } from '../../store/resource-reader';
import { ResourceWriter } from '../../resource/resource-writer';
import { SigningKeys } from '../keys/signing-keys.repository';
import { NewPasswords } from '../user/new-passwords';

/** Gives a new database a signing key and the first Client, User and policies, so that a first login is possible. */
@Injectable()
export class FirstIdentities implements OnApplicationBootstrap {
  private readonly logger = new Logger(FirstIdentities.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly keys: SigningKeys,
    private readonly reader: ResourceReader,
    private readonly writer: ResourceWriter,
    private readonly passwords: NewPasswords,
    private readonly environment: Environment,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The identities come before the signing key. So if a start fails because a secret is missing, it has encrypted
    // nothing, and the next start may have another encryption key.
    await this.setup.once('identities', () => this.store());
    await this.setup.once('signing-key', async () => {
      await this.keys.add(await this.keys.generate());
    });
    await this.keys.assertOpenable();
    await this.setup.once('trial-policy', () => this.storeTrialPolicy());
    // The Client of the console is stored only in an embedded database. The operator of an external database decides
    // about each Client.
    if (this.environment.databaseUrl === undefined && this.environment.hasConsole)
      await this.setup.once('console-client', () => this.storeConsoleClient());
    if ((await this.reader.find('AccessPolicy', 'trial')) !== undefined) {
      this.logger.warn(
        'AccessPolicy/trial lets every authenticated caller do everything. To end that: DELETE /AccessPolicy/trial',
      );
    }
  }

  private async store(): Promise<void> {
    const { rootClientSecret, adminPassword } = this.environment;
    if (rootClientSecret === undefined || adminPassword === undefined) {
      throw new StartError('The first start on a database needs SVC_ROOT_CLIENT_SECRET and SVC_ADMIN_PASSWORD.');
    }
    this.passwords.assertNew(adminPassword, 'SVC_ADMIN_PASSWORD');
    await this.put('Client', 'root', { secret: rootClientSecret, grant_types: ['basic'] });
    await this.put('User', 'admin', { userName: 'admin', password: adminPassword });
    await this.put('AccessPolicy', 'root', { engine: 'allow', link: [{ resourceType: 'Client', id: 'root' }] });
    await this.put('AccessPolicy', 'admin', { engine: 'allow', link: [{ resourceType: 'User', id: 'admin' }] });
  }

  private async storeTrialPolicy(): Promise<void> {
    if (!this.environment.hasTrialPolicy) return;
    await this.put('AccessPolicy', 'trial', {
      engine: 'allow',
      description: 'For trying out: every authenticated caller may do everything. Delete it before real data comes in.',
    });
  }

  /** Stores the Client of the console. It has no secret, since a browser could not keep one (docs/console.md). */
  private async storeConsoleClient(): Promise<void> {
    if ((await this.reader.find('Client', 'console')) !== undefined) return;
    await this.put('Client', 'console', {
      name: 'Console',
      grant_types: ['password'],
      auth: { password: { token_expiration: 600, refresh_token: true } },
    });
  }

  private async put(type: string, id: string, body: object): Promise<void> {
    await this.writer.put(ResourceDraft.of(readJson(JSON.stringify(body)), type, id), id);
  }
}
