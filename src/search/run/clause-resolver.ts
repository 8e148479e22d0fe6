import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { RowHashes } from '../../search-index/extract/row-hashes';
import { changedEach, nestedIn, withNested } from '../query/nested-clauses';
import {
  type NumberRange,
  type QuantityClause,
  type SearchClause,
  type UnitKey,
  type ValueSetClause,
} from '../query/search-query';
import { conversionOf, UCUM } from '../../platform/ucum/ucum';
import { tokenKeysOf } from '../parse/token-clause';
import { convertedRanges } from './converted-ranges';
import { ValueSetCodes } from './value-set-codes';

/**
 * Maximum number of stored units read for one search. Few units with different codes have the same meaning; more are
 * abuse.
 */
const MAX_UNITS = 5_000;

const READ_UNITS: Statement = {
  name: 'search-units',
  text: `select unit_hash, system, code, unit from search_unit where code = $1 or unit = $1 or system = '${UCUM}' limit ${MAX_UNITS + 1}`,
};

interface UnitRow {
  readonly unit_hash: number;
  readonly system: string;
  readonly code: string;
  readonly unit: string;
}

/** Resolves clauses by a lookup: a unit becomes the stored units of its meaning, a value set its codes. */
@Injectable()
export class ClauseResolver {
  constructor(
    private readonly statements: Statements,
    private readonly valueSets: ValueSetCodes,
    private readonly hashes: RowHashes,
  ) {}

  async resolveAll(clauses: readonly SearchClause[]): Promise<readonly SearchClause[]> {
    return clauses.some(needsResolving) ? changedEach(clauses, (clause) => this.resolve(clause)) : clauses;
  }

  private async resolve(clause: SearchClause): Promise<SearchClause> {
    switch (clause.kind) {
      case 'quantity':
        return this.quantity(clause);
      case 'value-set':
        return this.valueSet(clause);
      default:
        return withNested(clause, (inner) => this.resolve(inner));
    }
  }

  private async quantity({ parameterIds, codeHash, quantities }: QuantityClause): Promise<SearchClause> {
    const ranges: NumberRange[] = [];
    for (const { ranges: asked, unit } of quantities) {
      const stored = await this.statements.run<UnitRow>(READ_UNITS, [unit.code]);
      if (stored.length > MAX_UNITS) {
        throw new ServiceError(
          'unprocessable',
          `More than ${MAX_UNITS} units are in use; search by the number without its unit.`,
        );
      }
      for (const row of stored) ranges.push(...rangesIn(row, asked, unit));
    }
    return { kind: 'number', parameterIds, codeHash, ranges };
  }

  private async valueSet({ url, parameter }: ValueSetClause): Promise<SearchClause> {
    const codes = await this.valueSets.of(url);
    return { kind: 'token', tokens: codes.flatMap((token) => tokenKeysOf(parameter, token, this.hashes)) };
  }
}

const needsResolving = (clause: SearchClause): boolean =>
  clause.kind === 'quantity' || clause.kind === 'value-set' || nestedIn(clause).some(needsResolving);

/** The ranges of one number in a stored unit; empty if the units cannot be converted into each other. */
function rangesIn(row: UnitRow, asked: readonly NumberRange[], { system, code }: UnitKey): readonly NumberRange[] {
  const withUnit = (range: NumberRange): NumberRange => ({ ...range, unitHash: row.unit_hash });
  const isNamed = row.code === code || (system === undefined && row.unit === code);
  if (isNamed && (system === undefined || row.system === system)) return asked.map(withUnit);
  if (system !== UCUM || row.system !== UCUM) return [];
  const conversion = conversionOf(code, row.code);
  return conversion === undefined ? [] : convertedRanges(asked, conversion).map(withUnit);
}
