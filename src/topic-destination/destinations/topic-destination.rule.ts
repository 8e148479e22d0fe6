import { Injectable } from '@nestjs/common';
import { type DeliveryKind, DeliveryKinds, type DestinationParameter } from '../../delivery/delivery-kind';
import { type Destination, type DestinationSettings, Destinations } from '../../delivery/destinations';
import { type NativeReference, type Resource } from '../../fhir/types';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { elementsOf, memberText, withMember } from '../../platform/json/json-members';
import { memberOf } from '../../platform/json/plain-object';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../resource/hooks/resource-change';
import { type ResourceDraft } from '../../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../../resource/hooks/resource-rule';
import { DefinesResourceType } from '../../model/resource-type';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { ResourceReader } from '../../store/resource-reader';
import { type StoredResource } from '../../model/stored-resource';
import { attemptLogLevelOf, destinationRefusal, presentationOf } from './destination-presentation';
import { DestinationPrincipal, updateOf } from './destination-principal';
import { TOPIC_DESTINATION_SHAPE } from '../topics/topic.shapes';

interface CheckedDestination {
  /** The JSON text of `parameter` with its secrets masked. */
  readonly maskedParameters: string;
  readonly principal: NativeReference | undefined;
  readonly destinationOf: (inForce: DestinationSettings | undefined, principal?: NativeReference) => Destination;
}

/**
 * Validates a SvcTopicDestination and derives its delivery settings. The stored resource has the secrets masked; they
 * are in the tables of delivery. A masked value in a request keeps the current value.
 */
@Injectable()
@DefinesResourceType({
  type: 'SvcTopicDestination',
  shape: TOPIC_DESTINATION_SHAPE,
  searchParameters: [
    { code: 'topic', kind: 'uri', expression: 'SvcTopicDestination.topic' },
    { code: 'kind', kind: 'token', expression: 'SvcTopicDestination.kind' },
    { code: 'status', kind: 'token', expression: 'SvcTopicDestination.status' },
  ],
})
@ForResourceType('SvcTopicDestination')
@OnResourceChange({ types: ['SvcTopicDestination'] })
export class TopicDestinationRule implements ResourceRule<CheckedDestination>, ResourceChangeListener {
  constructor(
    private readonly kinds: DeliveryKinds,
    private readonly destinations: Destinations,
    private readonly principals: DestinationPrincipal,
    private readonly epoch: RegistryEpoch,
    private readonly access: EntryAccesses,
    private readonly reader: ResourceReader,
  ) {}

  async check(draft: ResourceDraft): Promise<CheckedDestination> {
    const { value } = draft;
    const { kind, handler, profile } = this.kindOf(value);
    const parameters = destinationParameters(value);
    const masked = parameters.map((parameter) => handler.masked?.(parameter) ?? parameter);
    const presentation = presentationOf(value, profile);
    const attemptLogLevel = attemptLogLevelOf(value);
    const principal = principalNamedIn(value);
    if (principal !== undefined) await this.principals.assertNameable(principal);
    const checked: CheckedDestination = {
      maskedParameters: textOfEach(masked, parameters, draft.member('parameter') ?? '[]'),
      principal,
      destinationOf: (inForce, storedPrincipal) => ({
        kind,
        attemptLogLevel,
        presentation: JSON.stringify({ ...presentation, principal: storedPrincipal }),
        settings: handler.settingsOf(parameters, inForce?.kind === kind ? inForce.settings : undefined),
      }),
    };
    checked.destinationOf(draft.id === undefined ? undefined : await this.destinations.findSettings(draft.id));
    return checked;
  }

  async store(draft: ResourceDraft, checked: CheckedDestination): Promise<void> {
    if (draft.member('parameter') !== undefined) draft.setMember('parameter', checked.maskedParameters);
    const { id = '' } = draft;
    const { principal, isTakenOver } = await this.principals.afterChange(id, checked.principal);
    if (isTakenOver) await this.destinations.remove(id);
    if (await this.destinations.save(id, (inForce) => checked.destinationOf(inForce, principal)))
      draft.markHiddenChange();
  }

  checksProfile(canonical: string): boolean {
    return this.kinds.all().some(({ meta }) => isOneOf(meta.profiles, canonical));
  }

  /**
   * Shows the header values of a destination to callers who may update it. They need to see the configuration, and
   * could send the values to their own endpoint anyway. `secret` stays masked for everybody.
   */
  async shown({ type, id, version, text }: StoredResource): Promise<string | undefined> {
    const resource = JSON.parse(text) as Resource;
    const parameters = resource.parameter as readonly DestinationParameter[] | undefined;
    const kind = this.kinds.find(String(resource.kind))?.handler;
    if (parameters === undefined || kind?.unmasked === undefined) return undefined;
    if ((await this.access.decider.rowsOf(updateOf(type, id, resource))) !== 'all') return undefined;
    const inForce = await this.destinations.findSettings(id);
    // The current values belong to the current version, so they must not be shown in an older one.
    const isPresent = (await this.reader.find(type, id))?.version === version;
    if (inForce === undefined || inForce.kind !== resource.kind || !isPresent) return undefined;
    const shown = kind.unmasked(parameters, inForce.settings);
    return withMember(text, 'parameter', textOfEach(shown, parameters, memberText(text, 'parameter') ?? '[]'));
  }

  async onChange({ interaction, id }: ResourceChange): Promise<void> {
    this.epoch.raise();
    if (interaction === 'delete') await this.destinations.remove(id);
  }

  private kindOf({ kind, meta }: Resource): { kind: string; handler: DeliveryKind; profile: string } {
    const kinds = this.kinds.all();
    const found = kinds.find((one) => one.meta.kind === kind);
    if (found === undefined)
      throw destinationRefusal('kind', `must be one of ${kinds.map((one) => one.meta.kind).join(', ')}.`);
    const { profiles } = found.meta;
    const named: readonly unknown[] = Array.isArray(meta?.profile) ? meta.profile : [];
    const profile = named.find((url) => typeof url === 'string' && isOneOf(profiles, url));
    if (typeof profile === 'string') return { kind: found.meta.kind, handler: found.handler, profile };
    throw destinationRefusal(
      'meta.profile',
      `must hold the profile of the kind: a canonical that ends in ${profiles.join(' or ')}.`,
    );
  }
}

/** Whether a canonical, without its version, ends with one of `ends`. */
const isOneOf = (ends: readonly string[], canonical: string): boolean =>
  ends.some((end) => canonical.split('|')[0]?.endsWith(`/${end}`));

/** Returns the User that `principal` names. The shape of the resource is checked later. */
function principalNamedIn({ principal }: Resource): NativeReference | undefined {
  if (principal === undefined) return undefined;
  const { resourceType, id } = (principal ?? {}) as Partial<NativeReference>;
  if (resourceType === 'User' && typeof id === 'string') return { resourceType, id };
  throw destinationRefusal('principal', 'must name a User by resourceType and id.');
}

function destinationParameters({ parameter = [] }: Resource): readonly DestinationParameter[] {
  if (Array.isArray(parameter) && parameter.every((element) => typeof memberOf(element, 'name') === 'string'))
    return parameter as readonly DestinationParameter[];
  throw destinationRefusal('parameter', 'must be an array of elements with a name and one value.');
}

/**
 * Returns the JSON text of `changed`. A parameter that is the same as in `parameters` keeps its text as sent.
 * @param text the JSON text of `parameters`
 */
function textOfEach(
  changed: readonly DestinationParameter[],
  parameters: readonly DestinationParameter[],
  text: string,
): string {
  const texts = elementsOf(text);
  return `[${changed.map((one, index) => (one === parameters[index] ? texts[index] : JSON.stringify(one))).join(',')}]`;
}
