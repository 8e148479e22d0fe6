import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundTasks } from './background-tasks';

@Global()
@Module({ imports: [DiscoveryModule], providers: [BackgroundTasks], exports: [BackgroundTasks] })
export class BackgroundModule {}
