import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { patientCompartment } from '../fhir/definitions/definitions';
import { ServerSetup } from '../platform/database/server-setup';
import { readJson } from '../platform/json/read-json';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';

/**
 * Stores HL7's definition of the Patient compartment once, under the id `patient`, so that it can be read and edited.
 */
@Injectable()
export class CompartmentSetup implements OnApplicationBootstrap {
  constructor(
    private readonly setup: ServerSetup,
    private readonly writer: ResourceWriter,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.setup.once('patient-compartment', async () => {
      const body = readJson(JSON.stringify(patientCompartment()));
      await this.writer.put(ResourceDraft.of(body, 'CompartmentDefinition', 'patient'), 'patient');
    });
  }
}
