import { type Request } from 'express';
import { formatHint, YAML_MEDIA_TYPES } from './format';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJsonInSteps, type ScannedJson } from '../../platform/json/read-json';
import { bodyOf, isJson, mediaTypeOf } from '../../platform/http/raw-request';
import { type Steps } from '../../platform/time/steps';
import { jsonOfYaml } from '../../platform/yaml/read-yaml';

const YAML_TYPES = new Set<string | undefined>(YAML_MEDIA_TYPES);

/** Maximum size of a body in YAML. Its parser reads 14 MB a second, so a larger body would delay other requests. */
const YAML_LIMIT_BYTES = 1024 * 1024;

/**
 * Reads a request body as JSON text, in steps. YAML is converted to JSON.
 * @throws ServiceError 'unsupported-media-type' for other types; JsonBodyError for hostile or broken text
 */
export const readBodyInSteps = (request: Request): Steps<ScannedJson> => readJsonInSteps(readBodyText(request));

/** Like {@link readBodyInSteps}, but the text is not scanned. */
export function readBodyText(request: Request): string {
  if (!isYaml(request) && !isJson(request))
    throw new ServiceError(
      'unsupported-media-type',
      `Send the resource as application/fhir+json, application/json or text/yaml.${formatHint(request, mediaTypeOf(request))}`,
    );
  if (isOtherRelease(request))
    throw new ServiceError('fhir-version-unsupported', 'This server speaks FHIR 4.0: send the resource as R4.');
  if (bodyOf(request).length === 0)
    throw new ServiceError('body-missing', 'The body is empty; send a resource as JSON.');
  return decodeUtf8(readJsonBytes(request));
}

/** Returns the body of a request whose media type may be any: YAML is converted to JSON, other bodies are unchanged. */
export function readJsonBytes(request: Request): Buffer {
  const body = bodyOf(request);
  if (!isYaml(request) || body.length === 0) return body;
  if (body.length > YAML_LIMIT_BYTES)
    throw new ServiceError('body-too-large', 'A YAML body has at most 1 MiB; send larger ones as JSON.');
  return Buffer.from(jsonOfYaml(decodeUtf8(body)));
}

const isYaml = (request: Request): boolean => YAML_TYPES.has(mediaTypeOf(request));

/** Whether the body is of another FHIR release (http://hl7.org/fhir/R4/http.html#version-parameter). */
function isOtherRelease({ headers }: Request): boolean {
  const [, release] = /;\s*fhirversion\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '') ?? [];
  return release !== undefined && !/^4\.0(\.|$)/.test(release);
}
