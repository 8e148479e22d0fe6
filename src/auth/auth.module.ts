import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module';
import { SecretBox } from '../platform/crypto/secret-box';
import { ResourceModule } from '../resource/resource.module';
import { SessionModule } from '../session/session.module';
import { AccessTokens } from './access-tokens';
import { CallerGuard } from './caller.guard';
import { CallerResolver } from './caller-resolver';
import { ClientAuthenticator } from './client-authenticator';
import { ClientSecretEntity } from './client-secret.entity';
import { ClientSecrets } from './client-secrets.repository';
import { ClientRule } from './client.rule';
import { CredentialsListener } from './credentials.listener';
import { ClientSecretCheck } from './guessing/client-secret-check';
import { CredentialGuard } from './guessing/credential-guard';
import { GuessKeyMaker } from './guessing/guess-keys';
import { GuessSweeper } from './guessing/guess-sweeper';
import { FirstIdentities } from './first-identities';
import { Grants } from './grants/grant.registry';
import { PasswordGrant } from './grants/password.grant';
import { RefreshTokenGrant } from './grants/refresh-token.grant';
import { ClientResourceType, UserResourceType } from './identity.resource-types';
import { IdentitySetup } from './identity-setup';
import { JwksController } from './jwks.controller';
import { PasswordHash } from './password-hash';
import { PasswordStrategy } from './password.strategy';
import { SigningKeyEntity } from './signing-key.entity';
import { SigningKeys } from './signing-keys.repository';
import { TokenController } from './token.controller';
import { TokenIssuer } from './token-issuer';
import { TokenOwners } from './token-owners';
import { UserLoginEntity } from './user-login.entity';
import { UserLogins } from './user-logins.repository';
import { UserPasswordEntity } from './user-password.entity';
import { UserPasswords } from './user-passwords.repository';
import { UserRule } from './user.rule';

@Module({
  imports: [
    DiscoveryModule,
    ResourceModule,
    SessionModule,
    AccessModule,
    JwtModule.register({}),
    TypeOrmModule.forFeature([ClientSecretEntity, UserPasswordEntity, UserLoginEntity, SigningKeyEntity]),
  ],
  controllers: [TokenController, JwksController],
  providers: [
    ClientResourceType,
    UserResourceType,
    ClientRule,
    UserRule,
    CredentialsListener,
    ClientSecrets,
    UserPasswords,
    UserLogins,
    SigningKeys,
    SecretBox,
    ClientSecretCheck,
    CredentialGuard,
    GuessKeyMaker,
    GuessSweeper,
    PasswordHash,
    PasswordStrategy,
    ClientAuthenticator,
    CallerResolver,
    AccessTokens,
    TokenOwners,
    TokenIssuer,
    Grants,
    PasswordGrant,
    RefreshTokenGrant,
    FirstIdentities,
    IdentitySetup,
    { provide: APP_GUARD, useClass: CallerGuard },
  ],
  // For grants of other teams.
  exports: [TokenIssuer, TokenOwners],
})
export class AuthModule {}
