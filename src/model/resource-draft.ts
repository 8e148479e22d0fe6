import { ServiceError } from '../platform/errors/service-error';
import { type JsonMember, membersOf } from '../platform/json/json-members';
import { type ScannedJson } from '../platform/json/read-json';
import { isObject } from '../platform/json/plain-object';
import { type Meta, type Resource } from '../fhir/types';
import { type SentMeta } from './meta-style';

/** Members that the server writes itself, before all others. */
const OWN_MEMBERS = new Set(['resourceType', 'id', 'meta']);
const OWN_META_MEMBERS = new Set(['versionId', 'lastUpdated']);

/**
 * The content of a resource to be written. Every byte is as sent, except in `resourceType`, `id` and `meta`, and except
 * white space outside of strings.
 * @example
 * const { id } = await writer.create(ResourceDraft.own('Ward', { beds: 12 }));
 */
export class ResourceDraft {
  private members: readonly JsonMember[];
  private hidden = false;

  private constructor(
    readonly type: string,
    private assignedId: string | undefined,
    /** `meta` as sent, without `versionId` and `lastUpdated`. */
    readonly meta: SentMeta,
    private content: Readonly<Record<string, unknown>>,
    members: readonly JsonMember[],
    /**
     * Whether code of this server made the body. Specs test the shape of such bodies, so writes do not validate them
     * (ADR 0014).
     */
    readonly isOwn = false,
  ) {
    this.members = members;
  }

  /**
   * Makes a draft from a body that code of this server or of a module made. The write does not validate it: only the
   * rule of its type checks it. Use {@link of} for content that must be validated.
   */
  static own(type: string, body: object): ResourceDraft {
    const { meta = {}, ...content } = JSON.parse(JSON.stringify(body)) as { readonly meta?: Meta };
    return new ResourceDraft(
      type,
      undefined,
      { members: jsonMembersOf(meta), value: meta },
      content,
      jsonMembersOf(content),
      true,
    );
  }

  /**
   * Makes a draft from a sent body. With `id`, it is for an update, whose body may omit type and id.
   * @throws ServiceError 'invalid' if the body is no object, or names another type or id than the URL; 'unprocessable'
   * if `meta` is malformed
   */
  static of(body: ScannedJson, type: string, id?: string): ResourceDraft {
    const { value: content } = body;
    if (!isObject(content)) {
      throw new ServiceError('body-not-a-resource', 'The body must be one JSON object: a resource.');
    }
    const named = content.resourceType;
    if (named !== undefined && named !== type) {
      throw new ServiceError('body-not-a-resource', `resourceType must be ${type}, as in the URL.`, {
        expression: 'resourceType',
      });
    }
    const { meta = {} } = content;
    if (!isObject(meta)) {
      throw new ServiceError('resource-invalid', 'meta must be an object.', { expression: `${type}.meta` });
    }
    const { extension } = meta;
    if (extension !== undefined && !Array.isArray(extension)) {
      throw new ServiceError('resource-invalid', 'meta.extension must be an array.', {
        expression: `${type}.meta.extension`,
      });
    }
    const members = body.members();
    const metaText = members.find(({ key }) => key === 'meta')?.valueText ?? '{}';
    return new ResourceDraft(
      type,
      idOf(content.id, type, id),
      { members: membersOf(metaText).filter(({ key }) => !OWN_META_MEMBERS.has(key)), value: meta },
      content,
      members.filter(({ key }) => !OWN_MEMBERS.has(key)),
    );
  }

  /**
   * A copy of the draft, for work that may run again, since rules change the draft that they check.
   * @internal
   */
  copy(): ResourceDraft {
    return new ResourceDraft(this.type, this.assignedId, this.meta, this.content, this.members, this.isOwn);
  }

  /** The id, from the body, the URL or the server. It is known before a rule's `store` runs. */
  get id(): string | undefined {
    return this.assignedId;
  }

  /** @internal */
  assignId(id: string): void {
    this.assignedId = id;
  }

  /** The content as parsed values. Their numbers are doubles, so they serve checks and indexes but are never stored. */
  get value(): Resource {
    // Each write reads this several times. If the body names its type, no copy is made.
    return this.content.resourceType === this.type
      ? (this.content as Resource)
      : { ...this.content, resourceType: this.type };
  }

  /** The text of a top-level member; undefined if there is none. */
  member(key: string): string | undefined {
    return this.members.find((member) => member.key === key)?.valueText;
  }

  /** Approximate length of the text. @internal */
  get characters(): number {
    return this.members.reduce((sum, { valueText }) => sum + valueText.length, 0);
  }

  /** Replaces a top-level member by a JSON text; a new member is added at the end. `value` is the parsed text. */
  setMember(key: string, valueText: string, value = JSON.parse(valueText) as unknown): void {
    const member: JsonMember = { key, keyText: JSON.stringify(key), valueText };
    const isKnown = this.members.some((known) => known.key === key);
    this.members = isKnown
      ? this.members.map((known) => (known.key === key ? member : known))
      : [...this.members, member];
    this.content = { ...this.content, [key]: value };
  }

  /**
   * Notes a change outside of the body, such as a password. Then a body that is equal to the stored one also makes a
   * new version.
   * @internal
   */
  markHiddenChange(): void {
    this.hidden = true;
  }

  /** @internal */
  get hasHiddenChange(): boolean {
    return this.hidden;
  }

  /** The text of one version as stored and sent. @internal */
  textOf(id: string, metaText: string): string {
    const parts = [
      `"resourceType":${JSON.stringify(this.type)}`,
      `"id":${JSON.stringify(id)}`,
      `"meta":${metaText}`,
      ...this.members.map(({ keyText, valueText }) => `${keyText}:${valueText}`),
    ];
    return `{${parts.join(',')}}`;
  }
}

const jsonMembersOf = (value: object): JsonMember[] =>
  Object.entries(value).map(([key, member]) => ({
    key,
    keyText: JSON.stringify(key),
    valueText: JSON.stringify(member),
  }));

/** Pattern of an id (http://hl7.org/fhir/R4/datatypes.html#id). */
const ID = /^[A-Za-z0-9.-]{1,64}$/;

export function assertId(id: string): void {
  if (ID.test(id)) return;
  const [letter] = /[^A-Za-z0-9.-]/u.exec(id) ?? [];
  const point = letter?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const has = letter === undefined ? `${id.length} of them` : `${JSON.stringify(letter)} (U+${point})`;
  const message = `An id has 1 to 64 letters, digits, "-" or "."; this one has ${has}.`;
  throw new ServiceError('id-invalid', message, { expression: 'id' });
}

function idOf(inBody: unknown, type: string, inUrl: string | undefined): string | undefined {
  const id = inBody ?? inUrl;
  if (id === undefined) return undefined;
  if (typeof id !== 'string')
    throw new ServiceError('resource-invalid', 'id must be a string.', { expression: `${type}.id` });
  if (inUrl !== undefined && id !== inUrl) {
    throw new ServiceError(
      'id-mismatch',
      'The id in the body differs from the id in the URL. Make them equal, or leave it out of the body.',
      { expression: `${type}.id` },
    );
  }
  assertId(id);
  return id;
}
