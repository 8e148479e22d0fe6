import { Injectable } from '@nestjs/common';
import { type CompartmentDefinition } from '../../fhir/definitions/definitions';
import { type ErrorIssue, ServiceError } from '../../platform/errors/service-error';
import { didYouMean } from '../../platform/text/nearest-code';
import { type ResourceDraft } from '../../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../hooks/resource-rule';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { SearchIndex } from '../../search-index/search-index';
import { ITSELF } from './compartments';

/**
 * Refuses a CompartmentDefinition that names a search parameter which is no reference parameter of its type. Every
 * answer would lack the resources that this parameter makes part of the compartment.
 */
@Injectable()
@ForResourceType('CompartmentDefinition')
export class CompartmentRule implements ResourceRule {
  constructor(private readonly index: SearchIndex) {}

  async check({ value }: ResourceDraft): Promise<void> {
    const { parameters } = await this.index.current();
    const { code = '', resource } = value as Partial<CompartmentDefinition>;
    const issues = (resource ?? []).flatMap((one, place) => faultsOf(one, place, code, parameters));
    if (issues.length === 0) return;
    throw new ServiceError('compartment-definition-invalid', issues.map(({ diagnostics }) => diagnostics).join(' '), {
      issues,
    });
  }
}

function faultsOf(
  { code: type, param = [] }: CompartmentDefinition['resource'][number],
  place: number,
  compartment: string,
  parameters: SearchParameterSet,
): ErrorIssue[] {
  const path = `CompartmentDefinition.resource[${place}]`;
  if (!parameters.has(type)) return [fault(`${path}.code`, `"${shortened(type)}" is no resource type of this server.`)];
  return param.flatMap((code, at) => {
    if (code === ITSELF && type === compartment) return [];
    if (code === ITSELF)
      return [fault(`${path}.param[${at}]`, `${ITSELF} is for ${shortened(compartment)}, whose compartment this is.`)];
    const found = parameters.find(type, code);
    if (found?.kind === 'reference') return [];
    const hint = didYouMean(found === undefined ? parameters.nearestCode(type, code) : undefined);
    const what = found === undefined ? 'no search parameter' : `a parameter of type ${found.kind} and no reference`;
    return [fault(`${path}.param[${at}]`, `${type}.${shortened(code)} is ${what}.${hint}`)];
  });
}

const fault = (expression: string, diagnostics: string): ErrorIssue => ({
  severity: 'error',
  code: 'not-found',
  diagnostics,
  expression,
});

const shortened = (text: string): string => text.slice(0, 64);
