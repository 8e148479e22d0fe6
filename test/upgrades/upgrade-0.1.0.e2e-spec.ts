import { describeUpgrade } from './describe-upgrade';

describeUpgrade('0.1.0');
