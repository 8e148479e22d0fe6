import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { MemoryBudget } from '../admission/memory-budget';
import { Clock } from '../time/clock';
import { CpuBudget } from '../time/cpu-budget';
import { Slices } from '../time/slices';
import { Tracing } from '../tracing/tracing';
import { Answers } from './answers';
import { InnerRequests } from './inner-requests';
import { OperationNames } from './operation-names';
import { CurrentCaller } from '../request/current-caller';
import { RequestContext } from '../request/request-context';
import { Routes } from './routes';

const SHARED = [
  ...[OperationNames, RequestContext, CurrentCaller, Routes, InnerRequests, Tracing],
  ...[MemoryBudget, Clock, CpuBudget, Slices],
];

/**
 * Provides the request context, the budgets of memory and CPU, the clock, time slices and the list of routes to every
 * module.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [Answers, ...SHARED],
  exports: SHARED,
})
export class HttpModule {}
