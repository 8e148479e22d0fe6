import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module';
import { SecretBox } from '../platform/crypto/secret-box';
import { ResourceModule } from '../resource/resource.module';
import { SessionModule } from '../session/session.module';
import { CallerGuard } from './caller/caller.guard';
import { CallerResolver } from './caller/caller-resolver';
import { ClientAuthenticator } from './client/client-authenticator';
import { ClientRule } from './identity/client.rule';
import { ClientSecrets } from './client/client-secrets.repository';
import { CredentialsListener } from './identity/credentials.listener';
import { CredentialGuard } from './guessing/credential-guard';
import { GuessSweeper } from './guessing/guess-sweeper';
import { SlowAddresses } from './guessing/slow-addresses';
import { DiscoveryController } from './endpoints/discovery.controller';
import { FirstIdentities } from './identity/first-identities';
import { ClientCredentialsGrant } from './grants/client-credentials.grant';
import { Grants } from './grants/grant.registry';
import { PasswordGrant } from './grants/password.grant';
import { RefreshTokenGrant } from './grants/refresh-token.grant';
import { HashSlots } from './hashing/hash-slots';
import { HashThreads } from './hashing/hash-threads';
import { PasswordHash } from './hashing/password-hash';
import { KeyRotation } from './keys/key-rotation';
import { KeyRotationController } from './endpoints/key-rotation.controller';
import { SigningKeys } from './keys/signing-keys.repository';
import { OtherRoutesController } from './endpoints/other-routes.controller';
import { IntrospectController } from './endpoints/introspect.controller';
import { Introspection } from './endpoints/introspection';
import { RevokeController } from './endpoints/revoke.controller';
import { TokenController } from './endpoints/token.controller';
import { TokenIssuer } from './token/token-issuer';
import { TokenOwners } from './token/token-owners';
import { TokenSlots } from './endpoints/token-slots';
import { NewPasswords } from './user/new-passwords';
import { PasswordChange } from './user/password-change';
import { PasswordChangeController } from './endpoints/password-change.controller';
import { PasswordStrategy } from './user/password.strategy';
import { TwoFactor } from './user/two-factor';
import { UserLogins } from './user/user-logins.repository';
import { UserPasswordEntity } from './user/user-password.entity';
import { UserPasswords } from './user/user-passwords.repository';
import { UserRule } from './identity/user.rule';
import { UserinfoController } from './endpoints/userinfo.controller';

const clients = [ClientRule, ClientSecrets, ClientAuthenticator];
const users = [
  UserRule,
  UserLogins,
  UserPasswords,
  NewPasswords,
  PasswordStrategy,
  PasswordChange,
  TwoFactor,
  HashSlots,
  HashThreads,
  PasswordHash,
];
const keys = [SigningKeys, KeyRotation, SecretBox];
const guessing = [CredentialGuard, GuessSweeper, SlowAddresses];
const tokens = [TokenOwners, TokenIssuer, TokenSlots, Introspection];
const grants = [Grants, PasswordGrant, ClientCredentialsGrant, RefreshTokenGrant];

/**
 * Exports {@link CredentialGuard}, {@link TokenIssuer} and {@link TokenOwners}, for modules that add a grant type.
 * @example
 * &#64;Module({ imports: [AuthModule, SessionModule] })
 * export class BadgeModule {}
 */
@Module({
  imports: [
    DiscoveryModule,
    ResourceModule,
    SessionModule,
    AccessModule,
    JwtModule.register({}),
    TypeOrmModule.forFeature([UserPasswordEntity]),
  ],
  controllers: [
    TokenController,
    IntrospectController,
    RevokeController,
    UserinfoController,
    PasswordChangeController,
    KeyRotationController,
    DiscoveryController,
    OtherRoutesController,
  ],
  providers: [
    ...clients,
    ...users,
    ...keys,
    ...guessing,
    ...tokens,
    ...grants,
    CredentialsListener,
    CallerResolver,
    FirstIdentities,
    { provide: APP_GUARD, useClass: CallerGuard },
  ],
  // Exported for the grants that other teams add.
  exports: [CredentialGuard, TokenIssuer, TokenOwners],
})
export class AuthModule {}
