import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BackgroundModule } from '../src/platform/background/background.module';
import { ConfigModule } from '../src/platform/config/config.module';
import { readEnvironment } from '../src/platform/config/environment';
import { DatabaseModule } from '../src/platform/database/database.module';
import { migrate } from '../src/platform/database/schema/migrate';
import { HttpModule } from '../src/platform/http/http.module';
import { ResourceModule } from '../src/resource/resource.module';
import { databaseUrl, runStatement } from './databases';

/** Makes a migrated database that already holds HL7's definitions, which each first start would store again. */
export async function makeTemplateDatabase(adminUrl: string, name: string): Promise<void> {
  await runStatement(adminUrl, `create database ${name}`);
  await migrate(databaseUrl(adminUrl, name));
  await storeDefinitions(databaseUrl(adminUrl, name));
}

@Module({})
class ResourcesAlone {}

async function storeDefinitions(url: string): Promise<void> {
  const environment = readEnvironment({
    DATABASE_URL: url,
    SVC_ROOT_CLIENT_SECRET: 'is-not-stored',
    SVC_ADMIN_PASSWORD: 'is-not-stored',
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  const imports = [ConfigModule.of(environment), DatabaseModule.at(url), HttpModule, BackgroundModule, ResourceModule];
  const options = { logger: ['error' as const], abortOnError: false };
  await (await NestFactory.createApplicationContext({ module: ResourcesAlone, imports }, options)).close();
}
