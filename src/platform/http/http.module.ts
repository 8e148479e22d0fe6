import { Global, Module } from '@nestjs/common';
import { Clock } from '../time/clock';
import { RequestContext } from './request-context';
import { Routes } from './routes';

/** The request context, the clock and the routes, for every module. */
@Global()
@Module({ providers: [RequestContext, Clock, Routes], exports: [RequestContext, Clock, Routes] })
export class HttpModule {}
