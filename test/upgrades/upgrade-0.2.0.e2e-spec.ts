import { describeUpgrade } from './describe-upgrade';

describeUpgrade('0.2.0');
