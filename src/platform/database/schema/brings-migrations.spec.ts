import { describe, expect, it } from '@jest/globals';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { type Migration } from '../migration';
import { BringsMigrations, migrationSetsOf } from './brings-migrations';

const making = (table: string, name = `Make${table}1795000000000`): Migration => ({
  name,
  statements: [`create table ${table} (id int primary key)`],
});

function moduleWith(prefix: string, migrations: readonly Migration[], imports: readonly Type[] = []): Type {
  @BringsMigrations({ prefix, migrations })
  @Module({ imports: [...imports] })
  class SomeModule {}
  return SomeModule;
}

describe(migrationSetsOf.name, () => {
  it('lists imported modules first, and each module once', () => {
    const base = moduleWith('acme_base', []);
    @Module({ imports: [{ module: base }] })
    class Between {}
    const ward = moduleWith('acme_ward', [], [Between]);
    const ward2 = moduleWith('acme_other', [], [base]);
    expect(migrationSetsOf([ward, ward2, ward]).map(({ module }) => module)).toEqual([
      'acme_base',
      'acme_ward',
      'acme_other',
    ]);
  });

  it('lists modules that a dynamic module or a forward reference imports', () => {
    const [stays, beds] = [moduleWith('acme_stay', []), moduleWith('acme_bed', [])];
    @Module({ imports: [{ forwardRef: () => stays }] })
    class Wards {}
    const dynamic = { module: Wards, imports: [beds] };
    expect(migrationSetsOf([Wards, dynamic]).map(({ module }) => module)).toEqual(['acme_stay', 'acme_bed']);
  });

  it('accepts a dynamic module of a library that has other members and imports itself', () => {
    @Module({})
    class Library {}
    const library: DynamicModule & { isCached: boolean } = { module: Library, isCached: true };
    library.imports = [{ forwardRef: () => library }];
    expect(migrationSetsOf([library])).toEqual([]);
  });

  it('refuses a provider with migrations, and names its module', () => {
    @BringsMigrations({ prefix: 'acme_bed', migrations: [] })
    class Beds {}
    @Module({ providers: [Beds] })
    class Wards {}
    @Module({})
    class Stays {}
    const sentence = '@BringsMigrations of Beds: it is no module. Move the decorator to Wards.';
    expect(() => migrationSetsOf([Wards])).toThrow(sentence);
    expect(() => migrationSetsOf([{ module: Stays, providers: [Beds] }])).toThrow(sentence.replace('Wards', 'Stays'));
  });

  it.each<[string, string, readonly Migration[], RegExp]>([
    ['a prefix with other characters', 'Acme', [], /prefix "Acme"/],
    ['the prefix of the server', 'core', [], /prefix "core"/],
    ['a name without digits', 'acme', [making('acme_x', 'MakeX')], /"MakeX" must end with 13 digits/],
    ['a duplicate name', 'acme', [making('acme_x'), making('acme_x')], /two migrations are named/],
  ])('refuses %s', (_what, prefix, migrations, sentence) => {
    expect(() => migrationSetsOf([moduleWith(prefix, migrations)])).toThrow(sentence);
  });

  it('refuses two modules with the same prefix or the same table, and names both', () => {
    @Module({})
    class Wards {}
    @Module({})
    class Beds {}
    const bring = (module: Type, prefix: string): void => {
      BringsMigrations({ prefix, migrations: [making('acme_ward_bed')] })(module);
    };
    bring(Wards, 'acme_ward');
    bring(Beds, 'acme_ward');
    expect(() => migrationSetsOf([Wards, Beds])).toThrow(
      'Wards and Beds both bring migrations with the prefix "acme_ward". Give each its own prefix.',
    );
    bring(Beds, 'acme');
    expect(() => migrationSetsOf([Wards, Beds])).toThrow(
      'Wards and Beds both bring the table "acme_ward_bed". Rename one of both.',
    );
  });
});
