/** A long computation; at each `yield` it can be paused (slices.ts does). It should yield every millisecond or so. */
export type Steps<T> = Generator<void, T, void>;
