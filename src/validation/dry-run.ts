import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { outcomeOfIssues } from '../fhir/edge/operation-outcome';
import { isR4ResourceType } from '../fhir/definitions/definitions';
import { RequestContext } from '../platform/request/request-context';
import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { type ErrorIssue, ServiceError } from '../platform/errors/service-error';
import { type OperationRequest } from '../operation/operation';
import { Slices } from '../platform/time/slices';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceTypes } from '../model/resource-types';
import { GrantedReader } from '../resource/rows/granted-reader';
import { WriteExtensions } from '../resource/writes/write-extensions';
import { readValidateRequest, type ValidateRequest } from './validate-request';

@Injectable()
export class DryRun {
  constructor(
    private readonly types: ResourceTypes,
    private readonly extensions: WriteExtensions,
    private readonly requests: RequestContext,
    private readonly reader: GrantedReader,
    private readonly slices: Slices,
  ) {}

  /** @param type type in the URL; undefined for the whole system */
  read(type: string | undefined, { body, query, headers }: OperationRequest): Promise<ValidateRequest> {
    return this.slices.run(readValidateRequest(type, body, query, headers.prefer));
  }

  /**
   * Answers a request of `$validate`.
   * @param id id of the resource in the URL; the modes then apply to this resource
   * @throws ServiceError 'not-found' for an unknown type, 'invalid' for a body of another type or id
   */
  async answer(type: string, { mode, resource, profiles }: ValidateRequest, id?: string): Promise<FhirAnswer> {
    this.types.assertDescribed(type);
    // Rules of modules compare the resource with stored ones, even with those that the caller may not read. So the
    // caller must be allowed to access all rows.
    if (!isR4ResourceType(type)) this.requests.assertAllRows();
    if (mode !== undefined && mode !== 'profile')
      this.types.assertWritable(type, mode, id === undefined ? 'type' : 'instance');
    if (mode === 'delete') return validationAnswer([]);
    if (mode === 'profile' && profiles.length === 0)
      throw parameterInvalid('Mode "profile" needs a profile.', 'profile');
    if (resource === undefined)
      throw new ServiceError('body-not-a-resource', 'Send the resource to validate, or Parameters with "resource".');
    const draft = ResourceDraft.of(resource, type, id);
    if (mode === 'update' && draft.id === undefined)
      throw new ServiceError('invalid', 'For mode "update" the resource needs an id.', { expression: `${type}.id` });
    const issues = await this.extensions.issuesOf(draft, profiles);
    if (mode !== 'create' && mode !== 'update') return validationAnswer(issues);
    // The caller must not learn whether a hidden target exists, so a limited caller gets no issues about targets.
    const found = this.reader.isLimited ? [] : await this.extensions.missingReferences(draft);
    const isTaken =
      mode === 'create' && draft.id !== undefined && (await this.reader.find(type, draft.id)) !== undefined;
    return validationAnswer([...issues, ...found, ...(isTaken ? [taken(type, draft.id)] : [])]);
  }
}

const ALL_OK: ErrorIssue = { severity: 'information', code: 'informational', diagnostics: 'All OK', expression: '' };

/**
 * The answer of `$validate`. Its status is 200 for any result, since issues are the answer and no failure of the
 * request.
 */
function validationAnswer(issues: readonly ErrorIssue[]): FhirAnswer {
  const listed = issues.length === 0 ? [ALL_OK] : issues;
  const errors = issues.filter(({ severity }) => severity === 'error').length;
  const summary = issues.length === 0 ? 'All OK' : `${errors} errors, ${issues.length - errors} warnings`;
  return { status: 200, text: JSON.stringify(outcomeOfIssues('validation', summary, listed)) };
}

const taken = (type: string, id = ''): ErrorIssue => ({
  severity: 'error',
  code: 'duplicate',
  diagnostics: `${type}/${id} exists already. Leave the id out, or update it with PUT.`,
  expression: `${type}.id`,
});
