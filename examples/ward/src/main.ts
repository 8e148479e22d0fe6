import { runServer } from 'svc-health-server';
import { WardModule } from './ward.module';

runServer({ modules: [WardModule] });
