import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module';
import { OperationModule } from '../operation/operation.module';
import { HealthModule } from '../platform/health/health.module';
import { MetricsModule } from '../platform/metrics/metrics.module';
import { SessionModule } from '../session/session.module';
import { ServerStatusOperation } from './server-status.operation';
import { StatusParts } from './status-parts';

/** The operation `$server-status`: the state of the server for its operators, from existing metrics and statistics. */
@Module({
  imports: [DeliveryModule, HealthModule, MetricsModule, OperationModule, SessionModule],
  providers: [ServerStatusOperation, StatusParts],
})
export class ServerStatusModule {}
