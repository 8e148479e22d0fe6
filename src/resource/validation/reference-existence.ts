import { Injectable } from '@nestjs/common';
import { localKey, parseReference } from '../../fhir/reference';
import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type ResourceDraft } from '../../model/resource-draft';
import { READ_MISSING } from '../../store/resource-statements';

interface FoundReference {
  readonly type: string;
  readonly id: string;
  readonly key: string;
  /** FHIRPath of the element with the reference. */
  readonly expression: string;
}

/** Maximum number of issues reported; validation reports the same number. */
const MAX_ISSUES = 100;

/** Values that are visited between two pauses. */
const VALUES_AT_ONCE = 1024;

/** Checks that the targets of references to this server are stored, if `SVC_REFERENCE_CHECK` enables the check. */
@Injectable()
export class ReferenceExistence {
  constructor(
    private readonly statements: Statements,
    private readonly environment: Environment,
    private readonly slices: Slices,
  ) {}

  /** Whether references are checked. This check must run in the transaction of the write. */
  get isOn(): boolean {
    return this.environment.hasReferenceCheck;
  }

  /**
   * One issue for each reference whose target is not stored or was deleted; none if the check is off. One statement
   * serves all references. Outside of a transaction, it checks what is stored now.
   * @param willExist keys (`Patient/p7`) that the same transaction writes, such as the other entries of a Bundle
   */
  async missing({ type, id, value }: ResourceDraft, willExist?: ReadonlySet<string>): Promise<readonly ErrorIssue[]> {
    if (!this.isOn || !isR4ResourceType(type)) return [];
    const own = id === undefined ? undefined : localKey(type, id);
    const references = await this.slices.run(referencesIn(value, this.environment.baseUrl));
    const found = references.filter(({ key }) => key !== own && willExist?.has(key) !== true);
    if (found.length === 0) return [];
    const targets = [...new Map(found.map((reference) => [reference.key, reference])).values()];
    const columns = [targets.map(({ type }) => type), targets.map(({ id }) => id)];
    const rows = await this.statements.run<{ type: string; id: string }>(READ_MISSING, columns);
    const absent = new Set(rows.map(({ type, id }) => localKey(type, id)));
    return found
      .filter(({ key }) => absent.has(key))
      .slice(0, MAX_ISSUES)
      .map(({ key, expression }) => ({
        severity: 'error',
        code: 'not-found',
        diagnostics: `${key} is not stored here. Store it first, or write both in one transaction.`,
        expression,
      }));
  }
}

/**
 * The references of a resource to resources of this server, with those in contained resources. The walk is a loop and
 * does not recurse, since a body may be 64 levels deep.
 */
function* referencesIn(resource: Resource, baseUrl: string): Steps<readonly FoundReference[]> {
  const found: FoundReference[] = [];
  let visited = 0;
  const pending: { value: unknown; path: string }[] = [{ value: resource, path: resource.resourceType }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    visited += 1;
    if (visited % VALUES_AT_ONCE === 0) yield;
    if (Array.isArray(value)) {
      value.forEach((item: unknown, index) => pending.push({ value: item, path: `${path}[${index}]` }));
    } else if (typeof value === 'object' && value !== null) {
      const { reference } = value as { readonly reference?: unknown };
      const target = typeof reference === 'string' ? parseReference(reference, baseUrl) : undefined;
      if (target?.kind === 'local') {
        found.push({ type: target.type, id: target.id, key: target.key, expression: path });
      }
      for (const [key, member] of Object.entries(value)) {
        if (typeof member === 'object') pending.push({ value: member, path: `${path}.${key}` });
      }
    }
  }
  return found.sort((a, b) => (a.expression < b.expression ? -1 : 1));
}
