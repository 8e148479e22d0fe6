import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { elementsOf, type JsonMember } from '../platform/json/json-members';
import { type Meta } from '../fhir/types';
import { ResourceTypes } from './resource-types';

/** The members of a version's `meta` that the server sets. */
export interface VersionStamp {
  readonly version: number;
  readonly updatedAt: Date;
  /**
   * Time of version 1. It is undefined if unknown, as for texts that were stored before the server recorded this time.
   */
  readonly createdAt: Date | undefined;
}

/** `meta` as sent, without `versionId` and `lastUpdated`. */
export interface SentMeta {
  readonly members: readonly JsonMember[];
  readonly value: Meta;
}

/**
 * How `meta` holds the creation time. A creation time that a client sends is not stored. So a client that sends back
 * the `meta` that it read neither changes nor duplicates it.
 */
interface MetaStyle {
  /** The `meta` of one version as JSON text: first the members that the server sets, then those sent. */
  textOf(sent: SentMeta, stamp: VersionStamp): string;
  /** A sent `meta` without the members that are not stored. If it has none of them, the same object is returned. */
  withoutCreation(meta: Meta): Meta;
  createdAtIn(meta: Meta): Date | undefined;
}

@Injectable()
export class MetaStyles {
  private readonly fhir: MetaStyle;

  constructor(
    private readonly types: ResourceTypes,
    { createdAtUrl }: Environment,
  ) {
    this.fhir = fhirMeta(createdAtUrl);
  }

  of(type: string): MetaStyle {
    return this.types.isNative(type) ? NATIVE_META : this.fhir;
  }
}

const NATIVE_META: MetaStyle = {
  textOf: ({ members }, stamp) => {
    const { createdAt } = stamp;
    return metaText(
      stamp,
      createdAt === undefined ? '' : `,"createdAt":${instantText(createdAt)}`,
      members.filter(({ key }) => key !== 'createdAt'),
    );
  },
  withoutCreation: (meta) => {
    const { createdAt, ...others } = meta;
    return createdAt === undefined ? meta : others;
  },
  createdAtIn: ({ createdAt }) => instantOf(createdAt),
};

/** FHIR has no member for the creation time, so it is the first extension of `meta`. */
const fhirMeta = (url: string): MetaStyle => {
  const isOwn = (extension: unknown): boolean => (extension as { readonly url?: unknown } | null)?.url === url;
  const begin = `{"url":${JSON.stringify(url)},"valueInstant":`;
  return {
    textOf: ({ members, value }, stamp) => {
      const { createdAt } = stamp;
      const sent = members.find(({ key }) => key === 'extension');
      const values = listOf(value.extension);
      const kept = sent === undefined ? [] : elementsOf(sent.valueText).filter((_text, index) => !isOwn(values[index]));
      const extensions = createdAt === undefined ? kept : [`${begin}${instantText(createdAt)}}`, ...kept];
      return metaText(
        stamp,
        extensions.length === 0 ? '' : `,"extension":[${extensions.join(',')}]`,
        members.filter((member) => member !== sent),
      );
    },
    withoutCreation: (meta) => {
      const { extension, ...others } = meta;
      const values = listOf(extension);
      if (!values.some(isOwn)) return meta;
      const sent = values.filter((value) => !isOwn(value));
      return sent.length === 0 ? others : { ...others, extension: sent };
    },
    createdAtIn: ({ extension }) => {
      const [first] = listOf(extension);
      return isOwn(first) ? instantOf((first as { readonly valueInstant?: unknown }).valueInstant) : undefined;
    },
  };
};

/** @param creation a member with the time of version 1, with its comma; or an empty text */
const metaText = ({ version, updatedAt }: VersionStamp, creation: string, sent: readonly JsonMember[]): string =>
  `{"versionId":"${version}","lastUpdated":${instantText(updatedAt)}${creation}${sent.map(({ keyText, valueText }) => `,${keyText}:${valueText}`).join('')}}`;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

const instantText = (instant: Date): string => `"${instant.toISOString()}"`;

function instantOf(text: unknown): Date | undefined {
  const instant = typeof text === 'string' ? new Date(text) : undefined;
  return instant === undefined || Number.isNaN(instant.getTime()) ? undefined : instant;
}
