import { Injectable } from '@nestjs/common';
import { DeliveryKinds, type DestinationParameter } from '../../delivery/delivery-kind';
import { Destinations } from '../../delivery/destinations';
import { type Resource } from '../../fhir/types';
import { elementsOf, memberText, withMember } from '../../platform/json/json-members';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { ResourceReader } from '../../store/resource-reader';
import { type StoredResource } from '../../model/stored-resource';
import { updateOf } from './destination-principal';

/** Shows header values to callers who may update the destination: they could send them to their own endpoint anyway. */
@Injectable()
export class ShownDestination {
  constructor(
    private readonly access: EntryAccesses,
    private readonly kinds: DeliveryKinds,
    private readonly destinations: Destinations,
    private readonly reader: ResourceReader,
  ) {}

  /** Returns the text with unmasked values if the caller may see them; else undefined. `secret` stays masked. */
  async textOf({ type, id, version, text }: StoredResource): Promise<string | undefined> {
    const resource = JSON.parse(text) as Resource;
    const parameters = resource.parameter as readonly DestinationParameter[] | undefined;
    const kind = this.kinds.find(String(resource.kind))?.handler;
    if (parameters === undefined || kind?.unmasked === undefined) return undefined;
    if ((await this.access.decider.rowsOf(updateOf(type, id, resource))) !== 'all') return undefined;
    const inForce = await this.destinations.findSettings(id);
    // The current values must not be shown in an older version.
    const isPresent = (await this.reader.find(type, id))?.version === version;
    if (inForce === undefined || inForce.kind !== resource.kind || !isPresent) return undefined;
    const stored = elementsOf(memberText(text, 'parameter') ?? '[]');
    const shown = kind
      .unmasked(parameters, inForce.settings)
      .map((parameter, index) => (parameter === parameters[index] ? stored[index] : JSON.stringify(parameter)));
    return withMember(text, 'parameter', `[${shown.join(',')}]`);
  }
}
