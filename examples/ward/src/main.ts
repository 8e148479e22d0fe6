import { runServer } from 'svc-health-server';
import { WardModule } from './ward.module';

runServer({
  modules: [WardModule],
  environment: { SVC_ADDENDUM_TYPES: 'src/addendum-types.json', ...process.env },
});
