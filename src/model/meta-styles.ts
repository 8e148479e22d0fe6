import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { fhirMeta, type MetaStyle, NATIVE_META } from './meta-style';
import { ResourceTypes } from './resource-types';

@Injectable()
export class MetaStyles {
  private readonly fhir: MetaStyle;

  constructor(
    private readonly types: ResourceTypes,
    { createdAtUrl }: Environment,
  ) {
    this.fhir = fhirMeta(createdAtUrl);
  }

  of(type: string): MetaStyle {
    return this.types.isNative(type) ? NATIVE_META : this.fhir;
  }
}
