import { source, type SourceResource } from './source-package';

interface CompartmentDefinition extends SourceResource {
  readonly resource: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

const about =
  'The Patient compartment of R4 as HL7 published it, and after its types the ones that this server adds: SDCDocument, SDCWorkflow.';

const added = [
  { code: 'SDCDocument', param: ['patient'] },
  { code: 'SDCWorkflow', param: ['patient'] },
];

/**
 * Keeps the whole CompartmentDefinition `patient` and adds the server's own types (interface specification, "Patient
 * everything").
 */
export function compactCompartment(definitions: readonly CompartmentDefinition[]): string {
  const patient = definitions.find(({ id }) => id === 'patient');
  if (patient === undefined) throw new Error('the source package holds no CompartmentDefinition "patient"');
  const { resource, ...rest } = patient;
  const head = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  const types = [...resource, ...added].map((entry) => JSON.stringify(entry));
  const definition = `{\n${head.join('')}"resource": [\n${types.join(',\n')}\n]\n}`;
  return `{\n"source": ${JSON.stringify(source)},\n"about": ${JSON.stringify(about)},\n"definition": ${definition}\n}\n`;
}
