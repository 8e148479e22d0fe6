import { isSame, type JsonValue } from '../../platform/json/lossless';
import { isSameNumber } from '../../platform/json/same-number';

/** Equality of RFC 6902, section 4.6: members in any order, numbers by their value (`1.10` is `1.1` is `11e-1`). */
export const isSameValue = (a: JsonValue, b: JsonValue): boolean =>
  isSame(a, b, (one, other) => isSameNumber(one.text, other.text));
