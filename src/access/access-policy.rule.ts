import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../resource/resource-draft';
import { ForResourceType, type ResourceRule } from '../resource/resource-rule';
import { PolicyEngines } from './policy-engine.registry';

const LINKABLE = ['User', 'Client', 'Operation'];

/** What every policy may have. A member that is not read (`roleName`, a misspelt `links`) would leave a wider grant. */
const COMMON_MEMBERS = [
  ...['resourceType', 'id', 'meta', 'text', 'extension'],
  ...['description', 'module', 'engine', 'link'],
];

/** A policy that this server would read differently from its author is refused: a grant must never be wider than meant. */
@Injectable()
@ForResourceType('AccessPolicy')
export class AccessPolicyRule implements ResourceRule {
  constructor(private readonly engines: PolicyEngines) {}

  check({ value }: ResourceDraft): void {
    const { engine, link } = value;
    const handler = typeof engine === 'string' ? this.engines.find(engine)?.handler : undefined;
    if (handler === undefined) throw refused('engine', `must be one of ${this.engines.names().join(', ')}`);
    const known = [...COMMON_MEMBERS, ...(handler.members ?? [])];
    const unknown = Object.keys(value).find((name) => !known.includes(name));
    if (unknown !== undefined) throw refused(unknown, 'is not supported');
    if (link !== undefined && (!Array.isArray(link) || !link.every(isLink))) {
      throw refused('link', `must be a list of {"resourceType", "id"} of ${LINKABLE.join(', ')}`);
    }
    // An empty list reads like "nobody", but no link means everybody.
    if (Array.isArray(link) && link.length === 0)
      throw refused('link', 'must not be empty; leave it out to cover every authenticated caller');
    handler.check?.(value);
  }
}

function isLink(link: unknown): boolean {
  if (typeof link !== 'object' || link === null) return false;
  const { resourceType, id } = link as Partial<NativeReference>;
  return typeof resourceType === 'string' && LINKABLE.includes(resourceType) && typeof id === 'string' && id !== '';
}

const refused = (member: string, reason: string): ServiceError =>
  new ServiceError('unprocessable', `AccessPolicy.${member} ${reason}.`, { expression: `AccessPolicy.${member}` });
