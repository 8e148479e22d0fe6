import { describe, expect, it } from '@jest/globals';
import { preferredReturnOf } from './prefer';

describe(preferredReturnOf.name, () => {
  it.each([
    ['return=minimal', 'minimal'],
    ['return=representation', 'representation'],
    ['return=OperationOutcome', 'OperationOutcome'],
    ['return="minimal"', 'minimal'],
    ['Return=Minimal', 'minimal'],
    ['handling=lenient, return=minimal', 'minimal'],
    ['handling=lenient; return=minimal', 'minimal'],
    ['respond-async,return=operationoutcome;x=1', 'OperationOutcome'],
    ['return=nothing', undefined],
    ['noreturn=minimal', undefined],
    ['handling=strict', undefined],
    [undefined, undefined],
  ])('reads Prefer: %s as %s', (prefer, expected) => {
    expect(preferredReturnOf(prefer)).toBe(expected);
  });
});
