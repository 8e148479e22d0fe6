import { readFile } from 'node:fs/promises';
import { type Ajv, type ValidateFunction } from 'ajv';
import { dateSpanOf } from '../../fhir/instant';
import { StartError } from '../../platform/errors/start-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { isObject } from '../../platform/json/plain-object';
import { readJson } from '../../platform/json/read-json';
import { faultOfSchema } from '../../platform/json-schema/schema-bounds';
import { strictAjv } from '../../platform/json-schema/strict-ajv';
import { AMENDMENT, COMMENT, faultOfCreatedType, HISTORY, NOTE } from './addendum-kinds';

/** A declared type of addenda: its required members, and checks of members. All others may have any value. */
export interface AddendumType {
  readonly required: readonly string[];
  readonly properties: ReadonlyMap<string, ValidateFunction>;
}

const MEMBERS = ['type', 'required', 'properties'];
const KINDS_OF_THE_SERVICE: readonly unknown[] = [NOTE, COMMENT, HISTORY, AMENDMENT];

/** Members of every created addendum, which other code checks: those that the call sends, and those of the server. */
const ALWAYS = ['type', 'target', 'user'];
const ASSIGNED = ['resourceType', 'id', 'meta', 'date', 'recorder'];

/** Whether a text is a date-time as in JSON schemas (RFC 3339, section 5.6). */
const isDateTime = (text: string): boolean => text.includes('T') && dateSpanOf(text) !== undefined;

/** Reads the file of `SVC_ADDENDUM_TYPES`. @throws StartError that names the file and all its faults */
export async function readAddendumTypesFile(file: string): Promise<ReadonlyMap<string, AddendumType>> {
  try {
    return readAddendumTypes(decodeUtf8(await readFile(file)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`SVC_ADDENDUM_TYPES ${file}: ${reason}`, { cause: error });
  }
}

/**
 * Reads a list of addendum types: `[{"type", "required": ["ward"], "properties": {"ward": {"type": "string"}}}]`, with
 * a JSON schema (draft-07) per property.
 * @throws Error that lists all faults, one per line
 */
export function readAddendumTypes(text: string): ReadonlyMap<string, AddendumType> {
  const { value } = readJson(text);
  if (!Array.isArray(value)) throw new Error('must be an array of types: [{"type", "required", "properties"}]');
  const reader = new TypesReader();
  value.forEach((entry, index) => {
    reader.read(entry, `[${index}]`);
  });
  if (reader.faults.length > 0) throw new Error(reader.faults.join('\n'));
  return reader.types;
}

class TypesReader {
  readonly types = new Map<string, AddendumType>();
  readonly faults: string[] = [];
  private readonly ajv: Ajv = strictAjv({ formats: { 'date-time': isDateTime } });

  read(entry: unknown, at: string): void {
    if (!isObject(entry)) {
      this.faults.push(`${at} must be an object`);
      return;
    }
    for (const key of Object.keys(entry).filter((name) => !MEMBERS.includes(name))) {
      this.faults.push(`${at}.${key} is no member of a type.${didYouMean(nearestCode(key, MEMBERS))}`);
    }
    const fault = this.faultOfType(entry.type);
    if (fault !== undefined) this.faults.push(`${at}.type ${fault}`);
    const required = this.requiredOf(entry.required, `${at}.required`);
    const properties = this.propertiesOf(entry.properties, `${at}.properties`);
    if (typeof entry.type === 'string') this.types.set(entry.type, { required, properties });
  }

  private faultOfType(type: unknown): string | undefined {
    if (typeof type !== 'string' || type === '') return 'must be a text such as "acme.sdc/Handover"';
    if (KINDS_OF_THE_SERVICE.includes(type)) return 'is a kind of the service, which has its own rules';
    return this.types.has(type) ? `is declared twice: ${type}` : faultOfCreatedType(type);
  }

  private requiredOf(required: unknown, at: string): readonly string[] {
    if (required === undefined) return [];
    if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
      this.faults.push(`${at} must be an array of names`);
      return [];
    }
    for (const name of required) this.assertOpen(name, `${at}: ${name}`);
    return [...new Set(required)].filter((name) => !ALWAYS.includes(name));
  }

  private propertiesOf(properties: unknown, at: string): ReadonlyMap<string, ValidateFunction> {
    const checks = new Map<string, ValidateFunction>();
    if (properties === undefined) return checks;
    if (!isObject(properties)) {
      this.faults.push(`${at} must be an object with a JSON schema for each member`);
      return checks;
    }
    for (const [name, schema] of Object.entries(properties)) {
      this.assertOpen(name, `${at}.${name}`);
      const check = this.checkOf(schema, `${at}.${name}`);
      if (check !== undefined) checks.set(name, check);
    }
    return checks;
  }

  private checkOf(schema: unknown, at: string): ValidateFunction | undefined {
    const fault = faultOfSchema(schema);
    try {
      if (fault === undefined) return this.ajv.compile(schema as object);
      this.faults.push(`${at} ${fault}`);
    } catch (error) {
      this.faults.push(`${at} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
    return undefined;
  }

  private assertOpen(name: string, at: string): void {
    if (ASSIGNED.includes(name)) this.faults.push(`${at} is assigned by the service`);
  }
}
