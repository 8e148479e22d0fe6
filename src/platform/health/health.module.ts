import { Module } from '@nestjs/common';
import { Drain } from './drain';
import { HealthCheck } from './health-check';
import { HealthController } from './health.controller';

@Module({ controllers: [HealthController], providers: [Drain, HealthCheck], exports: [HealthCheck] })
export class HealthModule {}
