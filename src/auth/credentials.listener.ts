import { Injectable } from '@nestjs/common';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/resource-change';
import { ClientSecrets } from './client/client-secrets.repository';
import { TwoFactorKeys } from './user/two-factor-keys.repository';
import { UserLogins } from './user/user-logins.repository';
import { UserPasswords } from './user/user-passwords.repository';

/** Who is deleted leaves no secret behind: one who is created later under the same id must not inherit it. */
@Injectable()
@OnResourceChange({ types: ['User', 'Client'] })
export class CredentialsListener implements ResourceChangeListener {
  constructor(
    private readonly secrets: ClientSecrets,
    private readonly passwords: UserPasswords,
    private readonly logins: UserLogins,
    private readonly twoFactorKeys: TwoFactorKeys,
  ) {}

  async onChange({ type, id, current }: ResourceChange): Promise<void> {
    if (current !== undefined) return;
    if (type === 'Client') {
      await this.secrets.remove(id);
    } else {
      await this.passwords.remove(id);
      await this.logins.remove(id);
      await this.twoFactorKeys.remove(id);
    }
  }
}
