/** How a version came to be, as history entries tell it. */
export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One version of a resource as it is stored and sent. */
export interface StoredResource {
  readonly type: string;
  readonly id: string;
  /** 1, 2, 3 … without gaps; a deletion takes one too. */
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  /** The whole resource as compact JSON text, `id` and `meta` included. */
  readonly text: string;
}

export type ResourceText = Pick<StoredResource, 'type' | 'id' | 'text'>;

/** A deletion in the history: it has a version, but no content. */
export type StoredVersion =
  StoredResource | (Omit<StoredResource, 'text' | 'method'> & { readonly method: 'DELETE'; readonly text?: undefined });
