import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { memberOf } from '../../platform/json/plain-object';
import { type ParamError } from '../../rpc/rpc-refusal';
import { type AddendumType, faultsByType } from './addendum-type';
import { readAddendumTypesFile } from './read-addendum-types';

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
