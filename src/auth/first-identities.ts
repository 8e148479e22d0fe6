import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { readJson } from '../platform/json/read-json';
import { ResourceDraft } from '../resource/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';
import { NewPasswords } from './user/new-passwords';

/** The Client, User and policies that a new database begins with. */
@Injectable()
export class FirstIdentities {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly passwords: NewPasswords,
    private readonly environment: Environment,
  ) {}

  async store(): Promise<void> {
    const { rootClientSecret, adminPassword } = this.environment;
    if (rootClientSecret === undefined || adminPassword === undefined) {
      throw new Error('The first start on a database needs SVC_ROOT_CLIENT_SECRET and SVC_ADMIN_PASSWORD.');
    }
    this.passwords.assertNew(adminPassword, 'SVC_ADMIN_PASSWORD');
    await this.put('Client', 'root', { secret: rootClientSecret, grant_types: ['basic'] });
    await this.put('User', 'admin', { userName: 'admin', password: adminPassword });
    await this.put('AccessPolicy', 'root', { engine: 'allow', link: [{ resourceType: 'Client', id: 'root' }] });
    await this.put('AccessPolicy', 'admin', { engine: 'allow', link: [{ resourceType: 'User', id: 'admin' }] });
  }

  async storeTrialPolicy(): Promise<void> {
    if (!this.environment.hasTrialPolicy) return;
    await this.put('AccessPolicy', 'trial', {
      engine: 'allow',
      description: 'For trying out: every authenticated caller may do everything. Delete it before real data comes in.',
    });
  }

  private async put(type: string, id: string, body: object): Promise<void> {
    await this.writer.put(ResourceDraft.of(readJson(JSON.stringify(body)), type, id), id);
  }
}
