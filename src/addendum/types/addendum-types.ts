import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type ErrorObject, type ValidateFunction } from 'ajv';
import { Environment } from '../../platform/config/environment';
import { TooCostly } from '../../platform/errors/too-costly';
import { isObject, memberOf } from '../../platform/json/plain-object';
import { type ParamError } from '../../rpc/rpc-refusal';
import { type AddendumType, readAddendumTypesFile } from './read-addendum-types';

/** The types of addenda declared in the file `SVC_ADDENDUM_TYPES`, read once at start. */
@Injectable()
export class AddendumTypes implements OnModuleInit {
  private readonly logger = new Logger(AddendumTypes.name);
  private types: ReadonlyMap<string, AddendumType> = new Map();

  constructor(private readonly environment: Environment) {}

  /** @throws StartError that names the file and all its faults */
  async onModuleInit(): Promise<void> {
    const file = this.environment.addendumTypes;
    if (file === undefined) return;
    this.types = await readAddendumTypesFile(file);
    this.logger.log(`Read SVC_ADDENDUM_TYPES: ${this.types.size} types of addenda`);
  }

  /** Returns the faults of an addendum. One whose type is not declared has none: its members may have any value. */
  faultsOf(addendum: unknown): ParamError[] {
    const name = memberOf(addendum, 'type');
    const type = typeof name === 'string' ? this.types.get(name) : undefined;
    return type === undefined ? [] : faultsByType(type, addendum);
  }
}

/** Returns every missing or invalid member of an addendum. */
function faultsByType({ required, properties }: AddendumType, addendum: unknown): ParamError[] {
  const sent = isObject(addendum) ? addendum : {};
  const missing = required.filter((name) => !Object.hasOwn(sent, name));
  return [
    ...missing.map((name) => ({ path: [name], message: `${name} is required` })),
    ...[...properties].flatMap(([name, validate]) =>
      Object.hasOwn(sent, name) ? faultOf(name, memberOf(sent, name), validate) : [],
    ),
  ];
}

function faultOf(name: string, value: unknown, validate: ValidateFunction): ParamError[] {
  try {
    if (validate(value)) return [];
  } catch (error) {
    if (error instanceof TooCostly) return [{ path: [name], message: `${name} is too long for its pattern` }];
    throw error;
  }
  const path = [name, ...stepsOf(validate.errors?.[0])];
  return [{ path, message: `${path.at(-1) ?? name} ${wordsOf(validate.errors?.[0])}` }];
}

/** Splits the JSON Pointer of an error (https://www.rfc-editor.org/rfc/rfc6901) into its steps. */
const stepsOf = (error: ErrorObject | undefined): string[] =>
  (error?.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function wordsOf(error: ErrorObject | undefined): string {
  const { message = 'is wrong', params = {} } = error ?? {};
  const { allowedValues, additionalProperty } = params as Readonly<Record<string, unknown>>;
  if (Array.isArray(allowedValues)) return `${message}: ${allowedValues.map((one) => JSON.stringify(one)).join(', ')}`;
  return typeof additionalProperty === 'string' ? `${message}: "${additionalProperty.slice(0, 64)}"` : message;
}
