import { ServiceError } from '../../platform/errors/service-error';

export const unusableValueSet = (canonical: string, reason: string): ServiceError =>
  new ServiceError('invalid', `The value set "${canonical.slice(0, 200)}" ${reason}.`, { code: 'value-set-unusable' });

export const valueSetNotStored = (canonical: string): ServiceError => unusableValueSet(canonical, 'is not stored here');
