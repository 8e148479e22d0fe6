import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readOptions } from '../options';
import { type CodeSystem, compactBindings, type ValueSet } from './compact-bindings';
import { compactCompartment } from './compact-compartment';
import { compactElements } from './compact-elements';
import { compactInvariants } from './compact-invariants';
import { compactSearchParameters } from './compact-search-parameters';
import { compactSummaryElements } from './compact-summary-elements';
import { installSource, readResources, source } from './source-package';

/** Writes the compacted HL7 definitions into src/fhir/definitions; a second run yields the same bytes. */
function makeDefinitions(): void {
  readOptions('npm run definitions: writes the compacted HL7 definitions into src/fhir/definitions.', {});
  const target = resolve('src/fhir/definitions');
  const folder = mkdtempSync(join(tmpdir(), 'definitions-'));
  try {
    tell(`installing ${source.package}@${source.version} into ${folder}`);
    const resources = installSource(folder);
    mkdirSync(target, { recursive: true });
    write(join(target, 'elements.json'), compactElements(readResources(resources, 'StructureDefinition')));
    write(
      join(target, 'summary-elements.json'),
      compactSummaryElements(readResources(resources, 'StructureDefinition')),
    );
    write(join(target, 'invariants.json'), compactInvariants(readResources(resources, 'StructureDefinition')));
    write(
      join(target, 'bindings.json'),
      compactBindings(
        readResources(resources, 'StructureDefinition'),
        readResources<ValueSet>(resources, 'ValueSet'),
        readResources<CodeSystem>(resources, 'CodeSystem'),
      ),
    );
    write(join(target, 'search-parameters.json'), compactSearchParameters(readResources(resources, 'SearchParameter')));
    write(
      join(target, 'compartment-patient.json'),
      compactCompartment(readResources(resources, 'CompartmentDefinition')),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function write(file: string, text: string): void {
  writeFileSync(file, text);
  tell(`wrote ${file} (${Math.round(Buffer.byteLength(text) / 1024)} kB)`);
}

function tell(fact: string): void {
  process.stdout.write(`${fact}\n`);
}

makeDefinitions();
