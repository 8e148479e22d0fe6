export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface StoredResource {
  readonly type: string;
  readonly id: string;
  /** Number of the version: 1, 2, 3 … without gaps. A deletion also has a number. */
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  /** The whole resource as compact JSON text, including `id` and `meta`. */
  readonly text: string;
}

export type ResourceName = Pick<StoredResource, 'type' | 'id'>;

/** A resource as it was found by a search. */
export type ResourceText = Pick<StoredResource, 'type' | 'id' | 'text'>;

/** A version in the history: a stored resource, or a deletion, which has a version number but no content. */
export type StoredVersion =
  StoredResource | (Omit<StoredResource, 'text' | 'method'> & { readonly method: 'DELETE'; readonly text?: undefined });
