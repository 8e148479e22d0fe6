import { ServiceError } from '../../platform/errors/service-error';

export const unusableValueSet = (canonical: string, reason: string): ServiceError =>
  new ServiceError('value-set-unusable', `The value set "${canonical.slice(0, 200)}" ${reason}.`);

export const valueSetNotStored = (canonical: string): ServiceError => unusableValueSet(canonical, 'is not stored here');
