import { type JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { atOnce } from '../../platform/time/steps';
import { type DiffKind, leafOf } from '../snapshots/snapshot-diff';
import { readableKey } from './readable-key';

/** A value for display. The text of a string is the string itself; any other value is shown as JSON text. */
export interface FieldValue {
  readonly text: string;
  /** The kind of value; absent for a string. `coding` and `reference` are objects that fit into one line. */
  readonly kind?: DiffKind | 'coding' | 'reference' | undefined;
  readonly unit?: string;
}

type Path = readonly string[];

/** Work that can pause. Its caller passes on each pause as an undefined row. */
export type Pausing<T> = Generator<undefined, T, void>;

/** How many children are read between two pauses. It takes less than a millisecond. */
export const CHILDREN_AT_ONCE = 1024;

/** A container (object or array) on the path that was requested last. */
interface Level {
  readonly key: string;
  readonly span: JsonSpan;
  children?: ReadonlyMap<string, JsonSpan>;
}

/**
 * Finds values of a body by their paths. Callers request paths in document order. So the containers on the last path
 * are kept, and each is scanned only once.
 */
export class SnapshotFields {
  private readonly trail: Level[];

  constructor(readonly outline: JsonOutline) {
    this.trail = [{ key: '', span: outline.root }];
  }

  /** Reads the containers on a path. The next calls for this path are short then, also in an array of megabytes. */
  *reach(path: Path): Pausing<void> {
    let known = 1;
    while (known <= path.length && this.trail[known]?.key === path[known - 1]) known++;
    this.trail.length = Math.min(known, this.trail.length);
    for (const key of path.slice(this.trail.length - 1)) {
      const level = this.trail.at(-1);
      const span = level === undefined ? undefined : (yield* this.readChildrenOf(level)).get(key);
      if (span === undefined) break;
      this.trail.push({ key, span });
    }
  }

  /** Returns the position of the value at a path; undefined if there is none. */
  find(path: Path): JsonSpan | undefined {
    const levels = this.levelsOf(path);
    return levels.length > path.length ? levels.at(-1)?.span : undefined;
  }

  /**
   * Returns a name for people for each step of a path: the text of the answer if it has one, else its key in readable
   * form. An element of an array has its number, from 1. A `value` at the end is omitted, since its container already
   * names it.
   */
  labelOf(path: Path): readonly string[] {
    const levels = this.levelsOf(path);
    const labels = path.map((key, index) => {
      const parent = levels[index];
      const own = levels[index + 1] === undefined ? undefined : this.ownTextOf(levels[index + 1]);
      const isElement = parent !== undefined && this.outline.isArray(parent.span);
      const name = isElement && /^\d+$/.test(key) ? String(Number(key) + 1) : readableKey(key);
      if (own === undefined) return name;
      return isElement ? `${name} (${own})` : own;
    });
    return path.length > 1 && path.at(-1) === 'value' ? labels.slice(0, -1) : labels;
  }

  unitOf(path: Path): string | undefined {
    if (path.at(-1) === 'unit') return undefined;
    const levels = this.levelsOf(path);
    const unit = levels.length > path.length ? this.childOf(levels.at(-2), 'unit') : undefined;
    const value = levels.at(-1);
    if (unit === undefined || value === undefined) return undefined;
    const isMeasured = path.at(-1) === 'value' || /^[-\d]/.test(this.outline.textOf(value.span));
    return isMeasured ? this.stringOf(unit) : undefined;
  }

  /** Returns the value at a path with its unit, for an object its member `value`; undefined without a single one. */
  valueAt(path: Path): FieldValue | undefined {
    const span = this.find(path);
    if (span === undefined) return undefined;
    if (this.outline.isBranch(span)) return path.at(-1) === 'value' ? undefined : this.valueAt([...path, 'value']);
    const unit = this.unitOf(path);
    return { ...leafOf(this.outline.textOf(span)), ...(unit === undefined ? {} : { unit }) };
  }

  /** Returns the key of the member that names the object at `path`, if there is one. */
  nameMemberOf(path: Path): string | undefined {
    const levels = this.levelsOf(path);
    return levels.length > path.length ? this.nameIn(levels.at(-1)) : undefined;
  }

  private ownTextOf(level: Level | undefined): string | undefined {
    const name = this.nameIn(level);
    const span = name === undefined ? undefined : this.childOf(level, name);
    return span === undefined ? undefined : this.stringOf(span);
  }

  /**
   * Returns the key of the member that names an object. In an answer of a document, `text` is the question, so it names
   * the answer. In a coding, concept or reference, `text` is the value itself, so it names nothing.
   */
  private nameIn(level: Level | undefined): string | undefined {
    if (level === undefined || !this.outline.isBranch(level.span) || this.outline.isArray(level.span)) return undefined;
    const children = this.childrenOf(level);
    if (['code', 'system', 'coding', 'resourceType', 'reference'].some((key) => children.has(key))) return undefined;
    const holds = children.has('value') || [...children.values()].some((child) => this.outline.isBranch(child));
    return holds ? ['text', 'display', 'title'].find((key) => this.stringOf(children.get(key))?.trim()) : undefined;
  }

  private stringOf(span: JsonSpan | undefined): string | undefined {
    const text = span === undefined ? '' : this.outline.textOf(span);
    return text.startsWith('"') ? unquoted(text) : undefined;
  }

  private childOf(level: Level | undefined, key: string): JsonSpan | undefined {
    return level === undefined ? undefined : this.childrenOf(level).get(key);
  }

  private childrenOf(level: Level): ReadonlyMap<string, JsonSpan> {
    return atOnce(this.readChildrenOf(level));
  }

  private *readChildrenOf(level: Level): Pausing<ReadonlyMap<string, JsonSpan>> {
    if (level.children !== undefined) return level.children;
    const children = new Map<string, JsonSpan>();
    for (const child of this.outline.childrenOf(level.span)) {
      children.set(child.key, child);
      if (children.size % CHILDREN_AT_ONCE === 0) yield undefined;
    }
    return (level.children = children);
  }

  private levelsOf(path: Path): readonly Level[] {
    atOnce(this.reach(path));
    return this.trail.slice();
  }
}
