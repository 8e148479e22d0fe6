import { readFile } from 'node:fs/promises';
import { StartError } from '../../platform/errors/start-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { type AddendumType } from './addendum-type';
import { readAddendumTypes } from './read-addendum-types';

/** Reads the file of `SVC_ADDENDUM_TYPES`. @throws StartError that names the file and all its faults */
export async function readAddendumTypesFile(file: string): Promise<ReadonlyMap<string, AddendumType>> {
  try {
    return readAddendumTypes(decodeUtf8(await readFile(file)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`SVC_ADDENDUM_TYPES ${file}: ${reason}`, { cause: error });
  }
}
