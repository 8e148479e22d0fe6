import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { Module } from '@nestjs/common';
import { BackgroundModule } from '../../src/platform/background/background.module';
import { ConfigModule } from '../../src/platform/config/config.module';
import { readEnvironment } from '../../src/platform/config/environment';
import { DatabaseModule } from '../../src/platform/database/database.module';
import { HttpModule } from '../../src/platform/http/http.module';
import { ResourceModule } from '../../src/resource/resource.module';

@Module({})
class ResourcesAlone {}

/** Stores in a migrated database what each first start would store again: HL7's SearchParameters. */
export async function preloadDefinitions(url: string): Promise<void> {
  const environment = readEnvironment({
    DATABASE_URL: url,
    SVC_ROOT_CLIENT_SECRET: 'is-not-stored',
    SVC_ADMIN_PASSWORD: 'is-not-stored',
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  const context = await NestFactory.createApplicationContext(
    {
      module: ResourcesAlone,
      imports: [ConfigModule.of(environment), DatabaseModule.at(url), HttpModule, BackgroundModule, ResourceModule],
    },
    { logger: ['error'], abortOnError: false },
  );
  await context.close();
}
