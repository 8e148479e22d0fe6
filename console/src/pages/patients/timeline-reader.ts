import { type SvcClient } from 'svc-health-client';
import { pause } from '../../parts/body/in-slices';
import { remarksOf } from '../../parts/search-pages';
import { MAX_ENTRIES, Timeline } from './timeline';
import { readEntry } from './timeline-entry';

export type ReaderState = 'reading' | 'complete' | 'stopped' | 'full' | 'failed';

/** The visible state of a reader; each change makes a new object. */
export interface TimelineView {
  readonly state: ReaderState;
  readonly timeline: Timeline;
  /** Increases with each change of the timeline. */
  readonly version: number;
  /** Types that the server omitted because the caller may not search them. */
  readonly remarks: readonly string[];
  readonly error?: unknown;
  readonly seconds: number;
}

/** Milliseconds between two renders of a growing list. */
const SHOWN_EVERY = 200;
/** Milliseconds of reading between two pauses for input and painting. */
const SLICE = 12;

/** Reads a patient's `$everything` line by line. Keeps only the parts that a row shows, and drops the bodies. */
export class TimelineReader {
  private readonly listeners = new Set<() => void>();
  private abort: AbortController | undefined;
  private view: TimelineView;
  private shownAt = 0;
  private began = 0;

  constructor(readonly patientId: string) {
    this.view = { state: 'stopped', timeline: new Timeline(), version: 0, remarks: [], seconds: 0 };
  }

  readonly current = (): TimelineView => this.view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Starts again: a stopped answer cannot be continued. */
  start(client: SvcClient): void {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.began = performance.now();
    this.show({ state: 'reading', timeline: new Timeline(), remarks: [] });
    void this.read(client, abort.signal);
  }

  stop(): void {
    this.abort?.abort();
    if (this.view.state === 'reading') this.show({ state: 'stopped' });
  }

  choose(types: ReadonlySet<string> | undefined): void {
    this.view.timeline.show(types);
    this.show({});
  }

  private async read(client: SvcClient, signal: AbortSignal): Promise<void> {
    const { timeline } = this.view;
    const remarks: string[] = [];
    let pausedAt = performance.now();
    try {
      for await (const line of client.everythingTexts(this.patientId, {}, { signal })) {
        const entry = line.startsWith('{"resourceType":"OperationOutcome"') ? undefined : readEntry(line);
        if (entry === undefined) remarks.push(...remarksOf(JSON.parse(line)));
        else timeline.add(entry);
        if (timeline.isFull) {
          this.show({ state: 'full', remarks });
          this.abort?.abort();
          return;
        }
        if (performance.now() - pausedAt < SLICE) continue;
        if (performance.now() - this.shownAt > SHOWN_EVERY) this.show({ remarks });
        await pause();
        pausedAt = performance.now();
        if (signal.aborted) return;
      }
      this.show({ state: 'complete', remarks });
    } catch (error) {
      if (!signal.aborted) this.show({ state: 'failed', error, remarks });
    }
  }

  private show(changed: Partial<TimelineView>): void {
    const { state, timeline, version, remarks } = this.view;
    this.shownAt = performance.now();
    const seconds =
      (changed.state ?? state) === 'reading' || state === 'reading'
        ? (this.shownAt - this.began) / 1000
        : this.view.seconds;
    this.view = { ...{ state, timeline, remarks: [...remarks] }, ...changed, version: version + 1, seconds };
    for (const listener of this.listeners) listener();
  }
}

export const FULL = `The list is full at ${MAX_ENTRIES.toLocaleString('en')} resources.`;

let latest: { readonly userId: string; readonly reader: TimelineReader } | undefined;

/**
 * The reader of a patient. The latest reader is kept while other pages are open, so that going back does not read
 * everything again.
 */
export function readerOf(userId: string, patientId: string): TimelineReader {
  if (latest?.userId === userId && latest.reader.patientId === patientId) return latest.reader;
  latest?.reader.stop();
  latest = { userId, reader: new TimelineReader(patientId) };
  return latest.reader;
}
