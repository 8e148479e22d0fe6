import { type Row } from '../../parts/search-pages';

/** A member of a resource as text: native references as ids, lists with commas. */
export function textAt(row: Row, member: string): string {
  const value = row[member];
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value === 'object' && value !== null) return idOf(value) ?? '';
  return value === undefined || value === null ? '' : String(value as string | number | boolean);
}

/** The id of a native reference: `{resourceType, id}`. */
export function idOf(reference: unknown): string | undefined {
  const id = (reference as { readonly id?: unknown } | undefined)?.id;
  return typeof id === 'string' ? id : undefined;
}
