/**
 * Types for the part of this package that the server uses (https://github.com/lhncbc/ucum-lhc). The package itself has
 * no types.
 */
declare module '@lhncbc/ucum-lhc' {
  export class UcumLhcUtils {
    static getInstance(): UcumLhcUtils;
    validateUnitString(unit: string): { readonly status: string };
    getSpecifiedUnit(unit: string, valConv: 'validate'): { readonly unit: { readonly isArbitrary_: boolean } | null };
    convertUnitTo(
      from: string,
      value: number,
      to: string,
    ): { readonly status: 'succeeded' | 'failed' | 'error'; readonly toVal: number | null };
  }
}
